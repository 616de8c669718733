#include "text/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::text {
namespace {

using base::Json;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string own(const std::string& name) {
  return read(SIBYL_TEST_DATA "/text/" + name);
}

std::shared_ptr<const Tokenizer> load(const std::string& json) {
  auto tokenizer = load_tokenizer_json(json);
  EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().message);
  return tokenizer ? *tokenizer : nullptr;
}

std::vector<int32_t> ids_of(const Tokenizer& tokenizer, std::string_view text,
                            const TokenizeOptions& options = {}) {
  Tokens tokens;
  tokenizer.tokenize(text, options, tokens);
  return tokens.ids;
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> rows;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    rows.push_back(*base::parse_json(text.substr(at, end - at)));
    at = end + 1;
  }
  return rows;
}

// Ids and offsets of hard strings, as Hugging Face's library gives them (tests/data/text).
TEST(Tokenizer, AgreesWithTheLibraryOnOurOwnStrings) {
  const auto rows = lines_of(own("tokens.jsonl"));
  ASSERT_GE(rows.size(), 40u);
  for (const Json& row : rows) {
    const auto tokenizer = load(own(row["file"].get<std::string>()));
    ASSERT_NE(tokenizer, nullptr);
    const auto text = row["text"].get<std::string>();
    Tokens tokens;
    tokenizer->tokenize(text, {.offsets = true}, tokens);
    EXPECT_EQ(tokens.ids, row["ids"].get<std::vector<int32_t>>()) << row.dump();
    const auto offsets = row["offsets"].get<std::vector<std::vector<uint32_t>>>();
    ASSERT_EQ(tokens.begins.size(), offsets.size());
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (row["file"] == "wordpiece.json") {
        EXPECT_EQ(tokens.begins[i], offsets[i][0]) << row.dump() << i;
        EXPECT_EQ(tokens.ends[i], offsets[i][1]) << row.dump() << i;
      } else {  // of characters that compose, the library keeps the first one's place only
        EXPECT_LE(tokens.begins[i], offsets[i][0]) << row.dump() << i;
        EXPECT_GE(tokens.ends[i], offsets[i][1]) << row.dump() << i;
      }
    }
    EXPECT_EQ(ids_of(*tokenizer, text), tokens.ids) << "the same without offsets";
  }
}

void expect_golden(const Tokenizer& tokenizer) {
  const std::string folder = SIBYL_SHARED_DATA "/minilm_golden/";
  const auto texts = lines_of(read(folder + "texts.jsonl"));
  const auto expected = lines_of(read(folder + "tokens.jsonl"));
  ASSERT_EQ(texts.size(), 276u);
  ASSERT_EQ(expected.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(ids_of(tokenizer, texts[i]["text"].get<std::string>(), {.tokens_max = 256}),
              expected[i].get<std::vector<int32_t>>())
        << "text " << i;
  }
}

TEST(Tokenizer, GivesTheGoldenTokensOfMiniLm) {
  const std::string golden = SIBYL_SHARED_DATA "/minilm_golden";
  if (!std::filesystem::exists(golden)) {
    GTEST_SKIP() << "shared data is not there: minilm_golden";
  }
  expect_golden(*load(read(SIBYL_SHARED_DATA "/tokenizers/bert_uncased.tokenizer.json")));
  const auto plain = load_wordpiece_vocabulary(
      read(SIBYL_SHARED_DATA "/tokenizers/bert-base-uncased.vocab.txt"), {});
  ASSERT_TRUE(plain);
  expect_golden(**plain);
}

TEST(Tokenizer, GivesTheGoldenTokensWithTheModelsOwnFile) {
  const std::string file = SIBYL_MINILM "/tokenizer.json";
  if (!std::filesystem::exists(file) ||
      !std::filesystem::exists(SIBYL_SHARED_DATA "/minilm_golden")) {
    GTEST_SKIP() << "not there: the MiniLM weights or shared data minilm_golden";
  }
  expect_golden(*load(read(file)));
}

// The file has truncation at 4 baked in; the caller's limit counts, special tokens included.
TEST(Tokenizer, CutsAtTheCallersLimitAndSaysSo) {
  const auto tokenizer = load(own("wordpiece.json"));
  const auto whole = ids_of(*tokenizer, "the of a in is");
  ASSERT_EQ(whole.size(), 7u);
  for (size_t limit = 0; limit <= 8; ++limit) {
    Tokens tokens;
    tokenizer->tokenize("the of a in is", {.tokens_max = limit}, tokens);
    EXPECT_EQ(tokens.ids.size(), std::min<size_t>(limit, 7));
    EXPECT_EQ(tokens.truncated, limit < 7);
    if (limit >= 2) {
      EXPECT_EQ(tokens.ids.front(), 2);
      EXPECT_EQ(tokens.ids.back(), 3);
    }
  }
  EXPECT_EQ(ids_of(*tokenizer, "the of", {.special_tokens = false}),
            (std::vector<int32_t>{whole[1], whole[2]}));
}

TEST(Tokenizer, KnowsItsTokens) {
  const auto tokenizer = load(own("wordpiece.json"));
  EXPECT_EQ(tokenizer->token_id("the"), 5);
  EXPECT_EQ(tokenizer->token(5), "the");
  EXPECT_EQ(tokenizer->token_id("[MASK]"), 4);
  EXPECT_EQ(tokenizer->token_id("there is none"), -1);
  EXPECT_EQ(tokenizer->token(-1), "");
  EXPECT_EQ(tokenizer->token(1000000), "");
  EXPECT_EQ(tokenizer->unknown_id(), 1);
  EXPECT_EQ(tokenizer->padding_id(), 0);
  EXPECT_EQ(tokenizer->first_special_id(), 2);
  EXPECT_EQ(tokenizer->last_special_id(), 3);
  EXPECT_GT(tokenizer->vocabulary_size(), 50u);
}

TEST(Tokenizer, ReadsIllFormedBytesAsReplacementCharacters) {
  const auto tokenizer = load(own("wordpiece.json"));
  // BERT's clean-up removes U+FFFD, so what is left around it joins.
  EXPECT_EQ(ids_of(*tokenizer,
                   "th\xFF\xC3"
                   "e"),
            ids_of(*tokenizer, "the"));
  EXPECT_EQ(ids_of(*tokenizer, "the \xE5\x8C"), ids_of(*tokenizer, "the"));
  const auto unigram = load(own("unigram.json"));
  EXPECT_EQ(ids_of(*unigram, "the \xFF"), ids_of(*unigram, "the \uFFFD"));
}

TEST(Tokenizer, SurvivesHugeWordsAndTakesLinearTime) {
  const auto tokenizer = load(own("wordpiece.json"));
  const std::string word(100000, 'a');
  EXPECT_EQ(ids_of(*tokenizer, word), (std::vector<int32_t>{2, 1, 3}));
  const auto unigram = load(own("unigram.json"));
  EXPECT_EQ(ids_of(*unigram, word).size(), 100001u);  // one piece for the space, then each letter
  EXPECT_EQ(ids_of(*unigram, word, {.tokens_max = 10}).size(), 10u);
  EXPECT_EQ(ids_of(*unigram, std::string(100000, '~')).size(), 2u) << "unknown ones are joined";
}

// Pages of code points are made when they are first met; that may happen in many threads at once.
TEST(Tokenizer, IsSafeToShareBetweenThreads) {
  const auto tokenizer = load(own("wordpiece.json"));
  const auto fresh = load(own("wordpiece.json"));
  std::string text;
  for (char32_t c = 0x20; c < 0x3000; c += 7) {
    text += static_cast<char>(0xE0 | (c >> 12));
    text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
  const auto expected = ids_of(*tokenizer, text);
  std::vector<std::thread> threads;
  std::vector<std::vector<int32_t>> results(4);
  for (auto& result : results) {
    threads.emplace_back([&] { result = ids_of(*fresh, text); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& result : results) {
    EXPECT_EQ(result, expected);
  }
}

/// wordpiece.json with `from` replaced by `to`.
std::string changed(std::string_view from, std::string_view to) {
  std::string json = own("wordpiece.json");
  const size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

void expect_refused(const std::string& json, std::string_view part) {
  const auto tokenizer = load_tokenizer_json(json);
  ASSERT_FALSE(tokenizer) << part;
  EXPECT_EQ(tokenizer.error().code, Code::InvalidData);
  EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << tokenizer.error().message;
}

TEST(TokenizerFile, RefusesWhatIsMissingOrUnknownByName) {
  expect_refused("", "tokenizer.json");
  expect_refused("{}", "'model' is missing");
  expect_refused("[1]", "'model' is missing");
  expect_refused(R"({"model": {"type": "BPE"}})", "'BPE'");
  expect_refused(R"({"model": {"type": "WordPiece"}})", "model.vocab");
  expect_refused(R"({"model": {"type": "WordPiece", "vocab": {"a": 0}}})", "[UNK]");
  expect_refused(R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": -1}}})", "-1");
  expect_refused(R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 9999999999}}})", "[UNK]");
  expect_refused(R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 0}}})", "belongs");
  expect_refused(R"({"model": {"type": "Unigram", "vocab": []}})", "model.vocab");
  expect_refused(R"({"model": {"type": "Unigram", "vocab": [["a", -1]]}})", "unk_id");
  expect_refused(R"({"model": {"type": "Unigram", "unk_id": 3, "vocab": [["a", -1]]}})", "unk_id");
  expect_refused(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a"]]}})", "vocab[0]");
  expect_refused(changed("\"BertNormalizer\"", "\"ByteLevel\""), "'ByteLevel'");
  expect_refused(changed("\"BertPreTokenizer\"", "\"Split\""), "'Split'");
  expect_refused(changed("\"TemplateProcessing\"", "\"ByteLevel\""), "'ByteLevel'");
  expect_refused(changed("\"single\"", "\"simple\""), "post_processor.single");
  expect_refused(changed("\"ids\"", "\"idents\""), "special_tokens");
}

TEST(TokenizerFile, SurvivesBeingCutAnywhere) {
  const std::string json = own("wordpiece.json");
  for (size_t size = 0; size < json.size(); size += 97) {
    EXPECT_FALSE(load_tokenizer_json(json.substr(0, size)));
  }
}

TEST(TokenizerFile, AddedTokensKeepTheirFlags) {
  const std::string base_json = own("wordpiece.json");
  const std::string added = R"({"id": 900, "content": "foo", "single_word": true, "lstrip": true,
      "rstrip": true, "normalized": false, "special": false}, {"id": 901, "content": "Bar",
      "single_word": false, "lstrip": false, "rstrip": false, "normalized": true}, )";
  const std::string marker = "\"added_tokens\": [";
  std::string json = base_json;
  json.insert(json.find(marker) + marker.size(), added);
  const auto tokenizer = load(json);
  const int32_t the = tokenizer->token_id("the");
  Tokens tokens;
  tokenizer->tokenize("the  foo  the", {.special_tokens = false, .offsets = true}, tokens);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{the, 900, the}));
  EXPECT_EQ(tokens.begins, (std::vector<uint32_t>{0, 3, 10}));
  EXPECT_EQ(tokens.ends, (std::vector<uint32_t>{3, 10, 13}));
  EXPECT_NE(ids_of(*tokenizer, "foot").at(1), 900) << "part of a word is not the token";
  EXPECT_EQ(ids_of(*tokenizer, "the BAR", {.special_tokens = false}),
            (std::vector<int32_t>{the, 901}))
      << "found after normalisation";
}

TEST(TokenizerFile, UnigramFallsBackToBytes) {
  std::string json = R"({"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true,
      "vocab": [["<unk>", 0], ["a", -1])";
  for (int byte = 0; byte < 256; ++byte) {
    char name[16];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    json += std::string(", [\"") + name + "\", -5]";
  }
  json += "]}}";
  const auto tokenizer = load(json);
  EXPECT_EQ(ids_of(*tokenizer, "aé"), (std::vector<int32_t>{1, 2 + 0xC3, 2 + 0xA9}));
}

TEST(WordPieceVocabulary, NeedsItsUnknownToken) {
  EXPECT_FALSE(load_wordpiece_vocabulary("a\nb\n", {}));
  const auto tokenizer =
      load_wordpiece_vocabulary("[UNK]\r\nCafé\r\n", {.lowercase = false, .strip_accents = false});
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(ids_of(**tokenizer, "Café café"), (std::vector<int32_t>{1, 0}));
}

}  // namespace
}  // namespace sibyl::text
