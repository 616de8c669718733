#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/tokenizer.h"

namespace sibyl::text {
namespace {

const std::vector<std::string_view> kTexts = {
    "The search engine answers questions. Searching is fast; the engine is small.",
    "Questions about searches: where is the engine? What answers the question?",
    "Größe und Café: naïve 北京 tests of the engine 123"};

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  Tokens tokens;
  tokenizer.tokenize(text, {.special_tokens = false}, tokens);
  std::vector<std::string> names;
  for (const int32_t id : tokens.ids) {
    names.emplace_back(tokenizer.token(id));
  }
  return names;
}

TEST(LearnWordPiece, FrequentWordsAreTokensAndEveryWordCanBeSpelt) {
  const auto tokenizer = load_tokenizer_json(learn_wordpiece_json(kTexts, 120));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_LE((*tokenizer)->vocabulary_size(), 120u);
  EXPECT_EQ(tokens_of(**tokenizer, "the ENGINE"), (std::vector<std::string>{"the", "engine"}));
  for (const std::string_view text : kTexts) {
    for (const std::string& token : tokens_of(**tokenizer, text)) {
      EXPECT_NE(token, "[UNK]");
    }
  }
  EXPECT_EQ((*tokenizer)->padding_id(), 0);
  EXPECT_EQ((*tokenizer)->first_special_id(), 2);
  EXPECT_EQ((*tokenizer)->last_special_id(), 3);
}

TEST(LearnWordPiece, IsDeterministicAndDoesNotMindTheOrderOfTexts) {
  const std::string once = learn_wordpiece_json(kTexts, 100);
  EXPECT_EQ(learn_wordpiece_json(kTexts, 100), once);
  EXPECT_EQ(learn_wordpiece_json({kTexts[2], kTexts[0], kTexts[1]}, 100), once);
}

TEST(LearnWordPiece, KeepsToItsSizeWithTinyOrHostileInput) {
  for (const size_t size : {0, 5, 6, 10, 30}) {
    const auto tokenizer = load_tokenizer_json(learn_wordpiece_json(kTexts, size));
    ASSERT_TRUE(tokenizer);
    EXPECT_LE((*tokenizer)->vocabulary_size(), std::max<size_t>(size, 5));
  }
  const std::string long_word(100000, 'x');
  const auto tokenizer =
      load_tokenizer_json(learn_wordpiece_json({"", "\xFF\xFE\x00 \x01", long_word}, 50));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ((*tokenizer)->vocabulary_size(), 5u);
}

}  // namespace
}  // namespace sibyl::text
