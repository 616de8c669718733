#include "train/internal/network.h"

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "train/internal/checkpoint.h"
#include "train/internal/encode_all.h"
#include "train/internal/gradient_step.h"
#include "train/internal/optimizer.h"
#include "train/internal/tiny_model.h"

namespace sibyl::train {
namespace {

const std::vector<std::string_view> kTexts = {"green tea is hot",       "black coffee beans",
                                              "a cup of cold water",    "the tea pot",
                                              "roast the beans slowly", "water"};
const std::vector<std::string_view> kQuestions = {"hot tea",     "beans",      "cold cup",
                                                  "pot for tea", "slow roast", "what to drink"};

/// Six passages with a question each, on a tiny transformer.
class TinyNetwork : public ::testing::Test {
 protected:
  void make(double dropout) {
    auto read = make_tiny_bert(folder_.path() + "/model", kTexts);
    ASSERT_TRUE(read) << read.error().message;
    base_ = *read;
    auto network = make_transformer_network(*base_, {.device = at::kCPU, .dropout = dropout});
    ASSERT_TRUE(network) << network.error().message;
    network_ = std::move(*network);
    items_.document_tokens = tokenize_all(*base_->tokenizer, kTexts, {});
    items_.question_tokens = tokenize_all(*base_->tokenizer, kQuestions, {});
    for (uint32_t i = 0; i < kTexts.size(); ++i) {
      items_.documents.push_back({i});
      items_.questions.push_back({{i}, {i}});
      batch_.documents.push_back(i);
      batch_.questions.push_back(i);
    }
    options_.limits = {.tokens_max = 16};
    options_.symmetric = true;
  }

  /// Gradients of every parameter and of the rows.
  std::vector<at::Tensor> gradients(bool cached, uint64_t seed) {
    options_.cached_gradients = cached;
    const auto loss = add_gradients(*network_, items_, batch_, nullptr, options_, seed, {});
    EXPECT_TRUE(loss.has_value());
    std::vector<at::Tensor> out;
    for (Parameter& parameter : network_->parameters()) {
      out.push_back(parameter.value.grad().clone());
      parameter.value.mutable_grad().reset();
    }
    out.push_back(network_->table().leaf.grad().clone());
    network_->end_rows();
    return out;
  }

  base::TemporaryDirectory folder_;
  std::shared_ptr<const model::ModelDirectory> base_;
  std::unique_ptr<Network> network_;
  StageItems items_;
  Batch batch_;
  StepOptions options_;
};

TEST_F(TinyNetwork, VectorsDoNotDependOnTheBatch) {
  make(0);
  const auto together =
      encode_all(*network_, items_.document_tokens, {.tokens_max = 1000}, std::stop_token());
  const auto alone =
      encode_all(*network_, items_.document_tokens, {.tokens_max = 1}, std::stop_token());
  const auto padded = encode_all(*network_, items_.document_tokens,
                                 {.tokens_max = 1000, .length_step = 8}, std::stop_token());
  EXPECT_TRUE(at::allclose(*together, *alone, 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(*together, *padded, 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(together->norm(2, 1), at::ones({6}), 1e-5, 1e-5));
}

TEST_F(TinyNetwork, CachedGradientsAreThoseOfThePlainLoss) {
  for (const double dropout : {0.0, 0.3}) {
    make(dropout);
    const auto plain = gradients(false, 77);
    const auto cached = gradients(true, 77);
    ASSERT_EQ(plain.size(), cached.size());
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_TRUE(at::allclose(plain[i], cached[i], 1e-4, 1e-6)) << dropout << " " << i;
    }
    if (dropout > 0) {
      EXPECT_FALSE(at::allclose(plain[0], gradients(true, 78)[0], 1e-4, 1e-6));
    }
  }
}

TEST_F(TinyNetwork, AStopInTheMiddleLeavesTheWeightsAlone) {
  make(0);
  std::stop_source source;
  source.request_stop();
  const at::Tensor before = network_->table().value.clone();
  EXPECT_FALSE(add_gradients(*network_, items_, batch_, nullptr, options_, 1, source.get_token()));
  EXPECT_TRUE(at::equal(before, network_->table().value));
  EXPECT_FALSE(
      encode_all(*network_, items_.document_tokens, {.tokens_max = 10}, source.get_token()));
}

TEST_F(TinyNetwork, StepsLowerTheLoss) {
  make(0);
  AdamW optimizer(*network_, {.weight_decay = 0.01});
  double first = 0;
  double last = 0;
  for (int step = 0; step < 30; ++step) {
    optimizer.clear_gradients();
    last = *add_gradients(*network_, items_, batch_, nullptr, options_, 1, {});
    first = step == 0 ? last : first;
    optimizer.step(2e-3);
    network_->end_rows();
  }
  EXPECT_LT(last, 0.5 * first);
}

TEST_F(TinyNetwork, OnlyRowsOfTheBatchMove) {
  make(0);
  AdamW optimizer(*network_, {.weight_decay = 0.5});
  const at::Tensor before = network_->table().value.clone();
  ASSERT_TRUE(add_gradients(*network_, items_, batch_, nullptr, options_, 1, {}));
  const at::Tensor rows = network_->table().rows.clone();
  optimizer.step(1e-2);
  network_->end_rows();
  const at::Tensor moved = (before != network_->table().value).any(1).nonzero().squeeze(1);
  EXPECT_TRUE(at::equal(moved, rows));
  EXPECT_LT(rows.numel(), before.size(0));
}

TEST_F(TinyNetwork, GuideMasksWhatItPrefersToTheAnswer) {
  make(0);
  Guide guide;
  guide.questions = at::tensor(std::vector<float>{1, 0, 0, 1}).view({2, 2});
  guide.documents = at::tensor(std::vector<float>{0.6F, 0.8F, 0.9F, 0.1F, 0.55F, 0.F}).view({3, 2});
  const Batch batch{.documents = {0, 1, 2}, .questions = {0, 1}};
  const at::Tensor positive =
      at::tensor(std::vector<int>{1, 0, 0, 1, 0, 0}).view({2, 3}).to(at::kBool);
  const at::Tensor strict = guide_mask(guide, batch, positive, 0.0);
  EXPECT_TRUE(at::equal(strict.to(at::kInt),
                        at::tensor(std::vector<int>{0, 1, 0, 0, 0, 0}, at::kInt).view({2, 3})));
  const at::Tensor wide = guide_mask(guide, batch, positive, 0.1);
  EXPECT_TRUE(wide[0][2].item<bool>());
}

TEST_F(TinyNetwork, CheckpointBringsBackWeightsMomentsAndProgress) {
  make(0);
  AdamW optimizer(*network_, {.weight_decay = 0.01});
  ASSERT_TRUE(add_gradients(*network_, items_, batch_, nullptr, options_, 1, {}));
  optimizer.step(1e-2);
  network_->end_rows();
  Checkpoints checkpoints(folder_.path(), "abc");
  Progress progress;
  progress.step = 1;
  progress.optimizer_steps = optimizer.steps();
  ASSERT_TRUE(checkpoints.save_state(*network_, optimizer, progress));
  auto other = make_transformer_network(*base_, {});
  ASSERT_TRUE(other);
  AdamW other_optimizer(**other, {.weight_decay = 0.01});
  Progress read;
  auto loaded = checkpoints.load_state(**other, other_optimizer, read);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(*loaded);
  EXPECT_EQ(read.step, 1U);
  EXPECT_EQ(other_optimizer.steps(), 1);
  EXPECT_TRUE(at::equal((*other)->table().value, network_->table().value));
  EXPECT_TRUE(at::equal(other_optimizer.moments().back(), optimizer.moments().back()));
  Checkpoints stranger(folder_.path(), "other job");
  EXPECT_FALSE(*stranger.load_state(**other, other_optimizer, read));
}

TEST_F(TinyNetwork, ADamagedCheckpointIsRefusedByName) {
  make(0);
  AdamW optimizer(*network_, {.weight_decay = 0.01});
  Checkpoints checkpoints(folder_.path(), "abc");
  ASSERT_TRUE(checkpoints.save_state(*network_, optimizer, {}));
  const std::string path = folder_.path() + "/state.safetensors";
  const std::string whole = *base::read_file(path);
  for (const size_t size : {size_t{0}, size_t{5}, whole.size() / 2, whole.size() - 1}) {
    ASSERT_TRUE(base::replace_file(path, whole.substr(0, size)));
    Progress progress;
    const auto loaded = checkpoints.load_state(*network_, optimizer, progress);
    ASSERT_FALSE(loaded) << size;
    EXPECT_EQ(loaded.error().code, Code::DataLoss);
    EXPECT_NE(loaded.error().message.find("state.safetensors"), std::string::npos);
  }
}

TEST(PoolingModes, EveryModeTrains) {
  using model::PoolingMode;
  base::TemporaryDirectory folder;
  const std::vector<PoolingMode> modes = {PoolingMode::Cls,          PoolingMode::Max,
                                          PoolingMode::Mean,         PoolingMode::MeanSqrtLength,
                                          PoolingMode::WeightedMean, PoolingMode::LastToken};
  auto read = make_tiny_bert(folder.path() + "/model", kTexts, modes);
  ASSERT_TRUE(read) << read.error().message;
  auto network = make_transformer_network(**read, {});
  ASSERT_TRUE(network);
  EXPECT_EQ((*network)->dimension(), 16 * modes.size());
  const TokenTable texts = tokenize_all(*(*read)->tokenizer, kTexts, {});
  const auto plain = encode_all(**network, texts, {.tokens_max = 1}, std::stop_token());
  const auto padded =
      encode_all(**network, texts, {.tokens_max = 1000, .length_step = 16}, std::stop_token());
  EXPECT_TRUE(at::allclose(*plain, *padded, 1e-4, 1e-5));
}

TEST(StaticNetwork, MeansRowsAndGivesZeroForNothing) {
  auto network = make_static_network(5, 4, {}, 1, {});
  ASSERT_TRUE(network);
  TokenTable texts;
  texts.add(std::vector<int32_t>{2, 3, 3});
  texts.add(std::vector<int32_t>{});
  const auto vectors = encode_all(**network, texts, {.tokens_max = 100}, std::stop_token());
  const at::Tensor& table = (*network)->table().value;
  const at::Tensor sum = table[2] + table[3] * 2;
  EXPECT_TRUE(at::allclose((*vectors)[0], sum / sum.norm(), 1e-5, 1e-6));
  EXPECT_EQ((*vectors)[1].abs().max().item<float>(), 0.0F);
}

TEST(StaticNetwork, SeedDecidesTheTable) {
  auto first = make_static_network(50, 8, {}, 1, {});
  auto again = make_static_network(50, 8, {}, 1, {});
  auto other = make_static_network(50, 8, {}, 2, {});
  EXPECT_TRUE(at::equal((*first)->table().value, (*again)->table().value));
  EXPECT_FALSE(at::equal((*first)->table().value, (*other)->table().value));
}

}  // namespace
}  // namespace sibyl::train
