#include "encoder/cpu_encoder.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/json_rows.h"
#include "base/random.h"

namespace sibyl::encoder {
namespace {

std::string fixture(const std::string& name) {
  return std::string(SIBYL_TEST_DATA) + "/model/" + name;
}

std::shared_ptr<Encoder> open(const std::string& path, const CpuEncoderOptions& options) {
  auto model = model::read_model_directory(path);
  if (!model) {
    throw std::runtime_error(model.error().message);
  }
  auto encoder = open_cpu_encoder(*model, "test", options);
  if (!encoder) {
    throw std::runtime_error(encoder.error().message);
  }
  return *encoder;
}

EncodedTexts encode(Encoder& encoder, const std::vector<std::string>& texts,
                    const EncodeOptions& options = {}) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  auto encoded = encoder.encode(views, options);
  EXPECT_TRUE(encoded.has_value()) << encoded.error().message;
  return encoded ? *encoded : EncodedTexts{};
}

std::vector<float> one(Encoder& encoder, const std::string& text) {
  return encode(encoder, {text}).vectors;
}

double cosine(const float* a, const float* b, size_t dimension) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < dimension; ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

struct Expected {
  const char* name;
  float tolerance;
};

class ExpectedVectors : public testing::TestWithParam<Expected> {};

// sentence-transformers' vectors of the same files, by encode_query and encode_document.
TEST_P(ExpectedVectors, AreThoseOfSentenceTransformers) {
  const std::string name = GetParam().name;
  const base::Json expected =
      base::parse_json(base::read_file(fixture(name + ".expected.json")).value()).value();
  const auto texts = expected["texts"].get<std::vector<std::string>>();
  for (const bool own_kernel : {false, true}) {
    const auto encoder = open(fixture(name), {.threads = 2, .own_kernel = own_kernel});
    const size_t dimension = encoder->info().dimension;
    for (const bool question : {false, true}) {
      EncodeOptions options;
      options.kind = question ? TextKind::Question : TextKind::Document;
      const EncodedTexts encoded = encode(*encoder, texts, options);
      ASSERT_EQ(encoded.vectors.size(), texts.size() * dimension);
      for (size_t i = 0; i < texts.size(); ++i) {
        const auto wanted =
            expected[question ? "question" : "document"][i].get<std::vector<float>>();
        ASSERT_EQ(wanted.size(), dimension);
        for (size_t j = 0; j < dimension; ++j) {
          ASSERT_NEAR(encoded.vectors[i * dimension + j], wanted[j], GetParam().tolerance)
              << name << ": '" << texts[i] << "'";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ExpectedVectors,
                         testing::Values(Expected{"bert", 2e-6F}, Expected{"bert-dense", 2e-6F},
                                         Expected{"xlm-roberta", 2e-6F},
                                         Expected{"distilbert", 8e-6F}, Expected{"plain", 4e-6F},
                                         Expected{"static", 1e-6F}),
                         [](const auto& model) {
                           std::string name = model.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST(StaticEncoder, ReadsModel2VecWeightsAndMapping) {
  const auto encoder = open(fixture("model2vec"), {.threads = 1});
  const auto model = model::read_model_directory(fixture("model2vec")).value();
  const auto& module = std::get<model::StaticModule>(model->modules[0]);
  const std::vector<float> table = model::to_floats(module.table).value();
  // "cat" is token 6, "xyz" is unknown and does not count.
  std::vector<float> wanted(12);
  double length = 0;
  for (size_t i = 0; i < 12; ++i) {
    wanted[i] = table[module.mapping[6] * 12 + i] * module.weights[6];
    length += static_cast<double>(wanted[i]) * wanted[i];
  }
  const std::vector<float> vector = one(*encoder, "cat xyz");
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(vector[i], wanted[i] / std::sqrt(length), 1e-6);
  }
  EXPECT_EQ(one(*encoder, ""), std::vector<float>(12, 0.0F));
  EXPECT_EQ(one(*encoder, "xyz"), std::vector<float>(12, 0.0F));
}

std::string shared(const std::string& path) {
  return std::string(SIBYL_SHARED_DATA) + "/" + path;
}

std::vector<float> shared_vector(const std::string& path) {
  return base::parse_json(base::read_file(shared(path)).value())
      .value()[0]
      .get<std::vector<float>>();
}

// The vectors that another implementation of Model2Vec tests itself with.
TEST(StaticEncoder, AgreesWithModel2VecFixtures) {
  if (!std::filesystem::exists(shared("model_fixtures"))) {
    GTEST_SKIP() << "shared data 'model_fixtures' is not there";
  }
  std::string hellos = "hello";
  for (int i = 1; i < 1000; ++i) {
    hellos += " hello";
  }
  struct Case {
    const char* model;
    std::string text;
    const char* expected;
    float tolerance;
  };
  for (const Case& c :
       {Case{"float32", "hello world", "short", 1e-5F}, Case{"float32", hellos, "long", 1e-5F},
        Case{"sentence-transformers", "hello world", "short", 1e-5F},
        Case{"sentence-transformers", hellos, "long", 1e-5F},
        Case{"vocab-quantized", hellos, "vocab_quantized", 1e-5F},
        Case{"float16", "hello world", "short", 0.1F},
        Case{"int8", "hello world", "short", 0.1F}}) {
    const auto encoder =
        open(shared(fmt::format("model_fixtures/test-model-{}", c.model)), {.threads = 1});
    const std::vector<float> wanted =
        shared_vector(fmt::format("model_fixtures/embeddings_{}.json", c.expected));
    const std::vector<float> vector = one(*encoder, c.text);
    ASSERT_EQ(vector.size(), wanted.size()) << c.model;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(vector[i], wanted[i], c.tolerance * std::abs(wanted[i])) << c.model;
    }
    EXPECT_EQ(one(*encoder, ""), std::vector<float>(wanted.size(), 0.0F)) << c.model;
  }
}

/// Texts of 0 to 40 words of the tiny vocabulary, some unknown.
std::vector<std::string> random_texts(size_t count, size_t words_max, uint64_t seed) {
  const std::vector<std::string> words = {"the", "cat", "dogs", "sat",  "on", "mat",
                                          "run", ",",   "!",    "zzzz", "a",  "cats"};
  base::Random random(seed);
  std::vector<std::string> out(count);
  for (std::string& text : out) {
    for (uint64_t left = random.below(words_max + 1); left > 0; --left) {
      text += (text.empty() ? "" : " ") + words[random.below(words.size())];
    }
  }
  return out;
}

struct Company {
  size_t threads;
  size_t batch_tokens;
};

/// Whether texts get the same bits in whatever company and on however many threads.
void expect_same_bits(const std::string& path, const std::vector<std::string>& texts,
                      const std::vector<Company>& companies) {
  const auto model = model::read_model_directory(path).value();
  const auto reference =
      open_cpu_encoder(model, "test", {.threads = 1, .batch_tokens = 2048}).value();
  const std::vector<float> wanted = encode(*reference, texts).vectors;
  const size_t row_bytes = reference->info().dimension * sizeof(float);
  for (const Company& company : companies) {
    const auto encoder =
        open_cpu_encoder(model, "test",
                         {.threads = company.threads, .batch_tokens = company.batch_tokens})
            .value();
    const std::vector<float> got = encode(*encoder, texts).vectors;
    ASSERT_EQ(std::memcmp(got.data(), wanted.data(), texts.size() * row_bytes), 0)
        << company.threads << " threads, batches of " << company.batch_tokens << " tokens";
  }
  for (size_t i = 0; i < texts.size(); i += 1 + texts.size() / 20) {
    const std::vector<float> alone = one(*reference, texts[i]);
    ASSERT_EQ(std::memcmp(alone.data(), wanted.data() + i * reference->info().dimension, row_bytes),
              0)
        << "alone: '" << texts[i] << "'";
  }
}

class SameBits : public testing::TestWithParam<const char*> {};

TEST_P(SameBits, OfTwoThousandTextsInAnyBatchAndThreadCount) {
  expect_same_bits(fixture(GetParam()), random_texts(2000, 40, 1),
                   {{1, 1}, {1, 100}, {2, 100}, {2, 2048}, {3, 100}, {3, 500}});
}

INSTANTIATE_TEST_SUITE_P(Models, SameBits,
                         testing::Values("bert", "bert-dense", "distilbert", "static"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(CpuEncoder, NeverGivesNaN) {
  for (const char* name : {"bert", "bert-dense", "distilbert", "xlm-roberta", "static"}) {
    const auto encoder = open(fixture(name), {.threads = 1});
    const EncodedTexts encoded =
        encode(*encoder, {"", " ", std::string("\0\xff\xfe", 3), "[CLS] [SEP] [PAD]",
                          std::string(100'000, 'x'), "\xf0\x9f\x98\x80"});
    for (const float value : encoded.vectors) {
      ASSERT_TRUE(std::isfinite(value)) << name;
    }
  }
}

TEST(CpuEncoder, CountsTokensAndCutTexts) {
  const auto encoder = open(fixture("bert"), {.threads = 1});
  const EncodedTexts encoded =
      encode(*encoder, {"the cat", random_texts(1, 0, 1)[0], std::string(200, 'a')});
  EXPECT_EQ(encoded.tokens, 4U + 2U + 3U);
  EXPECT_EQ(encoded.truncated, 0U);
  std::string many;
  for (int i = 0; i < 50; ++i) {
    many += "cat ";
  }
  EXPECT_EQ(encode(*encoder, {many}).tokens, 20U);
  EXPECT_EQ(encode(*encoder, {many}).truncated, 1U);
  EncodeOptions shorter;
  shorter.tokens_max = 5;
  EXPECT_EQ(encode(*encoder, {many}, shorter).tokens, 5U);
  shorter.tokens_max = 1;
  EXPECT_EQ(encode(*encoder, {many}, shorter).truncated, 1U);
}

TEST(CpuEncoder, TakesNoTextsAndAnyNumberOfThem) {
  const auto encoder = open(fixture("bert"), {.threads = 2, .batch_tokens = 64});
  EXPECT_TRUE(encode(*encoder, {}).vectors.empty());
  EXPECT_EQ(encode(*encoder, random_texts(10'000, 3, 2)).vectors.size(), 160'000U);
  EXPECT_EQ(encoder->info().reference(), "test@1");
  EXPECT_EQ(encoder->info().tokens_max, 20U);
  EXPECT_EQ(encoder->info().integer_scheme, "none");
  EXPECT_NE(encoder->tokenizer(), nullptr);
}

TEST(CpuEncoder, StopsBetweenBatches) {
  const auto encoder = open(fixture("bert"), {.threads = 1, .batch_tokens = 64});
  std::stop_source stop;
  stop.request_stop();
  EncodeOptions options;
  options.stop = stop.get_token();
  const std::vector<std::string_view> texts(1000, "the cat");
  EXPECT_EQ(encoder->encode(texts, options).error().code, Code::Interrupted);
  // Stopped while it runs: it ends, whichever batch that hits.
  std::stop_source later;
  options.stop = later.get_token();
  const std::vector<std::string_view> more(100'000, "the cat sat on the mat");
  std::jthread stopper([&] { later.request_stop(); });
  EXPECT_EQ(encoder->encode(more, options).error().code, Code::Interrupted);
  EXPECT_EQ(encode(*encoder, {"the cat"}).tokens, 4U);
}

// Questions are asked while documents are encoded; both must come out right.
TEST(CpuEncoder, AnswersQuestionsWhileDocumentsRun) {
  const auto encoder =
      open(fixture("bert"), {.threads = 2, .batch_tokens = 256, .queue_texts_max = 16});
  const std::vector<std::string> documents = random_texts(5000, 20, 3);
  const std::vector<std::string> questions = random_texts(20, 8, 4);
  const std::vector<float> wanted_documents = encode(*encoder, documents).vectors;
  const std::vector<float> wanted_questions = encode(*encoder, questions).vectors;
  EncodeOptions urgent;
  urgent.urgency = Urgency::Question;
  std::atomic<bool> running{true};
  std::atomic<size_t> asked{0};
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 3; ++i) {
      askers.emplace_back([&] {
        while (running || asked == 0) {
          EXPECT_EQ(encode(*encoder, questions, urgent).vectors, wanted_questions);
          ++asked;
        }
      });
    }
    EXPECT_EQ(encode(*encoder, documents).vectors, wanted_documents);
    running = false;
  }
  EXPECT_GT(asked, 0U);
}

TEST(CpuEncoder, RefusesDamagedWeights) {
  const base::TemporaryDirectory folder;
  const std::string path = folder.path() + "/model";
  const std::string tokenizer = base::read_file(fixture("bert/tokenizer.json")).value();
  model::StaticToWrite table{31, 2, std::vector<float>(62, 0.5F), true};
  table.table[61] = std::nanf("");
  ASSERT_TRUE(model::write_model_directory(path, table, tokenizer, "", {}).has_value());
  const auto encoder = open_cpu_encoder(model::read_model_directory(path).value(), "test", {});
  ASSERT_FALSE(encoder.has_value());
  EXPECT_EQ(encoder.error().code, Code::InvalidData);
  EXPECT_FALSE(open_cpu_encoder(nullptr, "test", {}).has_value());
}

class MiniLm : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(SIBYL_MINILM) + "/model.safetensors")) {
      GTEST_SKIP() << "the MiniLM weights are not at " << SIBYL_MINILM;
    }
  }
};

std::vector<std::string> golden_texts() {
  const std::string lines = base::read_file(shared("minilm_golden/texts.jsonl")).value();
  std::vector<std::string> out;
  const auto rows = base::split_json_rows(lines, 10'000).value();
  for (const base::JsonRow& row : rows) {
    out.push_back(base::parse_json(row.text).value()["text"].get<std::string>());
  }
  return out;
}

TEST_F(MiniLm, AgreesWithSentenceTransformers) {
  if (!std::filesystem::exists(shared("minilm_golden"))) {
    GTEST_SKIP() << "shared data 'minilm_golden' is not there";
  }
  std::vector<std::string> texts = golden_texts();
  const std::string bytes = base::read_file(shared("minilm_golden/vectors.f32")).value();
  std::vector<float> wanted(bytes.size() / sizeof(float));
  std::memcpy(wanted.data(), bytes.data(), bytes.size());
  ASSERT_EQ(wanted.size(), texts.size() * 384);
  // The first are hard for tokenizers; of the others every sixth is enough for a unit test.
  std::vector<std::string> some;
  std::vector<float> wanted_of_some;
  for (size_t i = 0; i < texts.size(); i += i < 36 ? 1 : 6) {
    some.push_back(texts[i]);
    wanted_of_some.insert(wanted_of_some.end(), wanted.begin() + static_cast<int64_t>(i * 384),
                          wanted.begin() + static_cast<int64_t>((i + 1) * 384));
  }
  std::swap(texts, some);
  std::swap(wanted, wanted_of_some);
  const auto encoder = open(SIBYL_MINILM, {});
  const std::vector<float> got = encode(*encoder, texts).vectors;
  ASSERT_EQ(got.size(), wanted.size());
  double lowest = 2;
  float largest = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    lowest = std::min(lowest, cosine(got.data() + i * 384, wanted.data() + i * 384, 384));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(got[i] - wanted[i]));
  }
  EXPECT_GE(lowest, 0.99999);
  EXPECT_LE(largest, 2e-6F);
}

// The real shapes: with them row counts are known to change sums on some CPUs.
TEST_F(MiniLm, GivesTheSameBitsInAnyBatch) {
  expect_same_bits(SIBYL_MINILM, random_texts(24, 60, 5), {{1, 64}, {2, 200}, {3, 400}});
}

}  // namespace
}  // namespace sibyl::encoder
