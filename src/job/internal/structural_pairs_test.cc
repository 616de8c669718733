#include "job/internal/structural_pairs.h"

#include <gtest/gtest.h>

namespace sibyl::job::internal {
namespace {

Passage sample() {
  Passage passage;
  passage.id = "d";
  passage.heading = "Handbook\nHolidays";
  passage.last_heading = "Holidays";
  passage.body =
      "Holidays are asked for in the portal. The manager answers within a week. Unused days expire "
      "in March.";
  passage.text = passage.heading + "\n" + passage.body;
  return passage;
}

TEST(StructuralPairs, TheHeadingFindsTheTextWithoutItself) {
  base::Random random(1);
  const auto pairs = structural_pairs(sample(), 5, {1, false, 0.0}, random);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].question, "Holidays");
  EXPECT_EQ(pairs[0].passage, 5U);
  EXPECT_EQ(pairs[0].text, sample().body);
}

TEST(StructuralPairs, ASentenceFindsTheRestWithTheHeadings) {
  base::Random random(1);
  const auto pairs = structural_pairs(sample(), 0, {1, false, 0.0}, random);
  const std::string& question = pairs[1].question;
  EXPECT_NE(sample().body.find(question), std::string::npos);
  ASSERT_TRUE(pairs[1].text);
  EXPECT_EQ(pairs[1].text->find(question), std::string::npos);
  EXPECT_TRUE(pairs[1].text->starts_with("Handbook\nHolidays\n"));
}

TEST(StructuralPairs, TablesTakeAllHeadingsAndThreeSentences) {
  base::Random random(1);
  const auto pairs = structural_pairs(sample(), 0, {3, true, 1.0}, random);
  ASSERT_EQ(pairs.size(), 5U);
  EXPECT_EQ(pairs[1].question, "Handbook\nHolidays");
  EXPECT_FALSE(pairs[2].text);  // whole_share 1: the passage itself
}

TEST(StructuralPairs, OneSentenceAloneHasNoRestToFind) {
  Passage passage;
  passage.body = "Only this one sentence stands here.";
  passage.text = passage.body;
  base::Random random(1);
  EXPECT_TRUE(structural_pairs(passage, 0, {3, true, 0.0}, random).empty());
  passage.body = " \n";
  EXPECT_TRUE(structural_pairs(passage, 0, {3, true, 0.0}, random).empty());
}

TEST(StructuralPairs, TheSameSeedGivesTheSamePairs) {
  base::Random first(9);
  base::Random second(9);
  const auto a = structural_pairs(sample(), 0, {2, true, 0.5}, first);
  const auto b = structural_pairs(sample(), 0, {2, true, 0.5}, second);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].question, b[i].question);
    EXPECT_EQ(a[i].text, b[i].text);
  }
}

}  // namespace
}  // namespace sibyl::job::internal
