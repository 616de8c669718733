#include "train/internal/sampler.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

/// `documents` passages with `asked` questions each; question i asks document i / asked.
StageItems plain_items(uint32_t documents, uint32_t asked) {
  StageItems items;
  for (uint32_t document = 0; document < documents; ++document) {
    items.documents.push_back({document});
    for (uint32_t i = 0; i < asked; ++i) {
      const auto question = static_cast<uint32_t>(items.questions.size());
      items.questions.push_back({{document}, {document}});
      items.examples.push_back({question, -1});
    }
  }
  return items;
}

TEST(Sampler, UsesEveryQuestionOnceAndEncodesItsPassageBeside) {
  const StageItems items = plain_items(50, 3);
  std::multiset<uint32_t> questions;
  for (const Batch& batch : make_epoch(items, {.documents = 8, .questions_max = 24}, 1, 0)) {
    EXPECT_LE(batch.documents.size(), 8U);
    EXPECT_LE(batch.questions.size(), 24U);
    EXPECT_EQ(std::set(batch.documents.begin(), batch.documents.end()).size(),
              batch.documents.size());
    for (const uint32_t question : batch.questions) {
      EXPECT_TRUE(std::ranges::count(batch.documents, question / 3) == 1);
      questions.insert(question);
    }
  }
  EXPECT_EQ(questions.size(), 150U);
  EXPECT_EQ(std::set(questions.begin(), questions.end()).size(), 150U);
}

TEST(Sampler, SeedAndEpochAloneDecideTheOrder) {
  const StageItems items = plain_items(30, 2);
  const auto first = make_epoch(items, {.documents = 4, .questions_max = 8}, 5, 1);
  const auto again = make_epoch(items, {.documents = 4, .questions_max = 8}, 5, 1);
  const auto other = make_epoch(items, {.documents = 4, .questions_max = 8}, 5, 2);
  ASSERT_EQ(first.size(), again.size());
  bool differs = first.size() != other.size();
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].documents, again[i].documents);
    EXPECT_EQ(first[i].questions, again[i].questions);
    differs = differs || first[i].documents != other[i].documents;
  }
  EXPECT_TRUE(differs);
}

TEST(Sampler, APassageWithManyQuestionsDoesNotFillABatch) {
  StageItems items = plain_items(20, 1);
  for (int i = 0; i < 64; ++i) {
    items.examples.push_back({static_cast<uint32_t>(items.questions.size()), -1});
    items.questions.push_back({{0}, {0}});
  }
  for (const Batch& batch : make_epoch(items, {.documents = 8, .questions_max = 32}, 3, 0)) {
    const auto of_first = std::ranges::count_if(batch.questions, [&](uint32_t question) {
      return items.questions[question].positives[0] == 0;
    });
    EXPECT_LE(of_first, 4 + 1);
  }
}

TEST(Sampler, TwoTextsOfOnePassageWaitForDifferentBatches) {
  StageItems items;  // Ten passages, each with two texts made from it, as cold pairs are.
  for (uint32_t passage = 0; passage < 10; ++passage) {
    for (int text = 0; text < 2; ++text) {
      const auto document = static_cast<uint32_t>(items.documents.size());
      items.documents.push_back({passage});
      items.questions.push_back({{passage}, {document}});
      items.examples.push_back({document, document});
    }
  }
  size_t shared = 0;
  for (const Batch& batch : make_epoch(items, {.documents = 4, .questions_max = 8}, 9, 0)) {
    std::set<uint32_t> passages;
    for (const uint32_t document : batch.documents) {
      shared += passages.insert(items.documents[document].passage).second ? 0 : 1;
    }
  }
  EXPECT_EQ(shared, 0U);
}

TEST(Sampler, TheLastBatchKeepsNegatives) {
  const StageItems items = plain_items(17, 1);
  for (const Batch& batch : make_epoch(items, {.documents = 8, .questions_max = 8}, 2, 0)) {
    EXPECT_GE(batch.documents.size(), 4U);
  }
}

TEST(Sampler, MaskMarksEveryRightPassageOfTheBatch) {
  StageItems items = plain_items(3, 1);
  items.questions[2].positives = {0, 2};
  const Batch batch{.documents = {2, 0, 1}, .questions = {2, 1}};
  EXPECT_EQ(positive_mask(items, batch), (std::vector<uint8_t>{1, 1, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace sibyl::train
