#include "text/utf8.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace sibyl::text {
namespace {

using namespace std::string_literals;

// Expected values are those of Python's bytes.decode("utf-8", "replace").
TEST(Utf8, RepairsEachMaximalIllFormedPart) {
  const std::string r = "\uFFFD";
  EXPECT_EQ(repair_utf8("abc é 北 😀"), "abc é 北 😀");
  EXPECT_EQ(repair_utf8("\x80"), r);
  EXPECT_EQ(repair_utf8("a\xC0\xAF"
                        "b"),
            "a" + r + r + "b");                               // overlong
  EXPECT_EQ(repair_utf8("\xE0\x80\x80"), r + r + r);          // overlong
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), r + r + r);          // surrogate
  EXPECT_EQ(repair_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(repair_utf8("\xE5\x8C"), r);                      // cut short
  EXPECT_EQ(repair_utf8("\xF0\x9F\x98 a"), r + " a");
  EXPECT_EQ(repair_utf8("\xF1\x80\x80\xE1\x80\xC2"
                        "b"),
            r + r + r + "b");
  EXPECT_EQ(repair_utf8("\xFF\xFE"), r + r);
  EXPECT_EQ(repair_utf8("a\0b"s), "a\0b"s);
}

TEST(Utf8, RepairedTextIsAlwaysWellFormedAndWellFormedTextStays) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (size_t i = random() % 24; i > 0; --i) {
      bytes += static_cast<char>(random() % 3 == 0 ? random() % 0x80 : 0x80 + random() % 0x80);
    }
    const std::string repaired = repair_utf8(bytes);
    EXPECT_TRUE(is_utf8(repaired));
    EXPECT_EQ(repair_utf8(repaired), repaired);
    EXPECT_EQ(is_utf8(bytes), repaired == bytes);
    EXPECT_EQ(code_points(bytes), code_points(repaired));
    EXPECT_EQ(to_utf32(bytes), to_utf32(repaired));
  }
}

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 97) {
    if (c >= 0xD800 && c < 0xE000) {
      continue;
    }
    std::string bytes;
    append_code_point(bytes, c);
    size_t position = 0;
    ASSERT_EQ(next_code_point(bytes, position), c);
    ASSERT_EQ(position, bytes.size());
  }
  std::string surrogate;
  append_code_point(surrogate, 0xD800);
  append_code_point(surrogate, 0x110000);
  EXPECT_EQ(surrogate, "\uFFFD\uFFFD");
}

TEST(Utf8, CutsAtBordersOfCodePoints) {
  EXPECT_EQ(cut_utf8("aé北", 100), "aé北");
  EXPECT_EQ(cut_utf8("aé北", 6), "aé北");
  EXPECT_EQ(cut_utf8("aé北", 5), "aé");
  EXPECT_EQ(cut_utf8("aé北", 3), "aé");
  EXPECT_EQ(cut_utf8("aé北", 2), "a");
  EXPECT_EQ(cut_utf8("aé北", 0), "");
  EXPECT_EQ(cut_utf8("\x80\x80\x80\x80\x80\x80", 5).size(), 5u) << "no border to find";
}

}  // namespace
}  // namespace sibyl::text
