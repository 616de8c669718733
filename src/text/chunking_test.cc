#include "text/chunking.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace sibyl::text {
namespace {

std::string piece(const std::string& text, const Chunk& chunk) {
  return text.substr(chunk.range.begin, chunk.range.end - chunk.range.begin);
}

std::shared_ptr<const Tokenizer> small_tokenizer() {
  std::ifstream file(SIBYL_TEST_DATA "/text/wordpiece.json", std::ios::binary);
  return *load_tokenizer_json(std::string{std::istreambuf_iterator<char>(file), {}});
}

size_t tokens_in(const Tokenizer& tokenizer, const std::string& text) {
  Tokens tokens;
  tokenizer.tokenize(text, {.special_tokens = false}, tokens);
  return tokens.ids.size();
}

/// Every byte that is not white space must lie in a chunk; chunks must be in order.
void expect_covered(const std::string& text, const std::vector<Chunk>& chunks) {
  std::vector<bool> seen(text.size(), false);
  uint32_t begin = 0;
  uint32_t end = 0;
  for (const Chunk& chunk : chunks) {
    EXPECT_LT(chunk.range.begin, chunk.range.end);
    EXPECT_GE(chunk.range.begin, begin);
    EXPECT_GT(chunk.range.end, end) << "a chunk that adds nothing";
    begin = chunk.range.begin;
    end = chunk.range.end;
    std::fill(seen.begin() + begin, seen.begin() + end, true);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_TRUE(seen[i] || text[i] == ' ' || text[i] == '\n') << "byte " << i;
  }
}

TEST(Chunking, ShortTextIsOneChunk) {
  const std::string text = "  One sentence. And two. ";
  const auto chunks = chunk_text(text, {}, nullptr, {});
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(piece(text, chunks[0]), "One sentence. And two.");
  EXPECT_TRUE(chunk_text("", {}, nullptr, {}).empty());
  EXPECT_TRUE(chunk_text(" \n ", {}, nullptr, {}).empty());
}

TEST(Chunking, BeginsAndEndsAtSentencesAndSharesTheOverlap) {
  const std::string text = "Aa bb cc. Dd ee ff. Gg hh ii. Jj kk ll.";  // 4 tokens a sentence
  const auto chunks = chunk_text(text, {}, nullptr, {.tokens = 8, .overlap = 4});
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(piece(text, chunks[0]), "Aa bb cc. Dd ee ff.");
  EXPECT_EQ(piece(text, chunks[1]), "Dd ee ff. Gg hh ii.");
  EXPECT_EQ(piece(text, chunks[2]), "Gg hh ii. Jj kk ll.");
  const auto apart = chunk_text(text, {}, nullptr, {.tokens = 8, .overlap = 0});
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(piece(text, apart[1]), "Gg hh ii. Jj kk ll.");
}

TEST(Chunking, StaysWithinSections) {
  const std::string text = "Title one. Text.\nTitle two. More text.";
  const std::vector<Section> sections = {{{"One"}, {0, 16}}, {{"Two"}, {17, 1000}}};
  const auto chunks = chunk_text(text, sections, nullptr, {});
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(piece(text, chunks[0]), "Title one. Text.");
  EXPECT_EQ(chunks[0].section, 0u);
  EXPECT_EQ(piece(text, chunks[1]), "Title two. More text.");
  EXPECT_EQ(chunks[1].section, 1u);
}

TEST(Chunking, CutsLongSentencesAtSpacesWithOverlap) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "word" + std::string(1, static_cast<char>('a' + i % 26)) + " ";
  }
  const auto chunks = chunk_text(text, {}, nullptr, {.tokens = 50, .overlap = 10});
  expect_covered(text, chunks);
  ASSERT_GE(chunks.size(), 4u);
  for (size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_TRUE(chunks[i].range.begin == 0 || text[chunks[i].range.begin - 1] == ' ');
    EXPECT_LE(piece(text, chunks[i]).size(), 50u * 6);
    if (i > 0) {
      EXPECT_LT(chunks[i].range.begin, chunks[i - 1].range.end) << "neighbours share text";
    }
  }
}

TEST(Chunking, NeverExceedsTheLimitOfTheTokenizer) {
  const auto tokenizer = small_tokenizer();
  std::mt19937 random(3);
  const std::vector<std::string> words = {"the",
                                          "installing",
                                          "unaffable",
                                          "北京",
                                          "x",
                                          "question?",
                                          "search.",
                                          "engine!",
                                          "\n\n",
                                          "é",
                                          std::string(120, 'q'),
                                          "\u0301",
                                          "1+2",
                                          "[SEP]"};
  for (int round = 0; round < 60; ++round) {
    std::string text;
    for (size_t i = random() % 120; i > 0; --i) {
      text += words[random() % words.size()];
      text += random() % 4 == 0 ? "" : " ";
    }
    const ChunkOptions options{.tokens = 1 + random() % 30, .overlap = random() % 12};
    const auto chunks = chunk_text(text, {}, tokenizer.get(), options);
    expect_covered(text, chunks);
    for (const Chunk& chunk : chunks) {
      EXPECT_LE(tokens_in(*tokenizer, piece(text, chunk)), options.tokens) << piece(text, chunk);
    }
  }
}

TEST(Chunking, SurvivesSenselessOptionsAndRanges) {
  const std::string text = "One two three. Four five six.";
  expect_covered(text, chunk_text(text, {}, nullptr, {.tokens = 0, .overlap = 0}));
  expect_covered(text, chunk_text(text, {}, nullptr, {.tokens = 1, .overlap = 1000}));
  EXPECT_TRUE(chunk_text(text, {{{}, {50, 20}}}, nullptr, {}).empty());
}

TEST(Chunking, IsLinearInTheLengthOfOneSentence) {
  const std::string text(2'000'000, 'x');
  const auto chunks = chunk_text(text, {}, nullptr, {});
  EXPECT_GT(chunks.size(), 1000u);
  EXPECT_EQ(chunks.back().range.end, text.size());
}

}  // namespace
}  // namespace sibyl::text
