#include "train/internal/stage_items.h"

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

std::shared_ptr<const text::Tokenizer> tiny_tokenizer() {
  auto tokenizer =
      text::load_wordpiece_vocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\ntea\ncup\nhot\n", {});
  return tokenizer ? *tokenizer : nullptr;
}

Dataset tea_data() {
  Dataset data;
  data.passages = {"tea cup", "hot", "Tea  CUP"};  // The third is the first again.
  data.pairs = {{"tea", {0}}, {"hot", {1, 2}}};
  data.cold = {{"cup", 0, "tea"}, {"cup", 1, std::nullopt}, {"cup", 2, "tea"}};
  return data;
}

TEST(StageItems, PassagesOfTheSameTextCountAsOne) {
  EXPECT_EQ(canonical_passages(tea_data().passages), (std::vector<uint32_t>{0, 1, 0}));
  const auto tokenizer = tiny_tokenizer();
  ASSERT_TRUE(tokenizer);
  const Dataset data = tea_data();
  const StageItems items =
      make_stage_items(Stage::Labels, data, canonical_passages(data.passages), *tokenizer, {}, {});
  EXPECT_EQ(items.documents.size(), 2U);
  EXPECT_EQ(items.questions[1].positives, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(items.examples.size(), 2U);
  EXPECT_EQ(items.document_tokens.at(0).size(), 4U);  // [CLS] tea cup [SEP]
}

TEST(StageItems, OneColdQuestionOverSeveralPassagesHasThemAllAsAnswers) {
  const auto tokenizer = tiny_tokenizer();
  ASSERT_TRUE(tokenizer);
  const Dataset data = tea_data();
  const StageItems items = make_stage_items(Stage::Cold, data, canonical_passages(data.passages),
                                            *tokenizer, {}, {.prompt = {}, .tokens_max = 3});
  ASSERT_EQ(items.questions.size(), 1U);
  EXPECT_EQ(items.questions[0].positives, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(items.examples.size(), 2U);  // The third pair repeats the first.
  EXPECT_EQ(items.examples[1].document, 1);
  EXPECT_EQ(items.document_tokens.at(1).size(), 3U);
}

TEST(TokenTable, PromptStandsBeforeEveryTextAndSpecialTokensMayBeLeftOut) {
  const auto tokenizer = tiny_tokenizer();
  ASSERT_TRUE(tokenizer);
  const TokenTable table =
      tokenize_all(*tokenizer, {"cup", ""}, {.prompt = "hot ", .special_tokens = false});
  EXPECT_EQ(std::vector<int32_t>(table.at(0).begin(), table.at(0).end()),
            (std::vector<int32_t>{6, 5}));
  EXPECT_EQ(table.at(1).size(), 1U);
}

}  // namespace
}  // namespace sibyl::train
