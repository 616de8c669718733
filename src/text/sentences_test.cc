#include "text/sentences.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sibyl::text {
namespace {

using Parts = std::vector<std::string>;

Parts parts(const std::string& text) {
  Parts out;
  for (const Range& range : split_sentences(text)) {
    out.push_back(text.substr(range.begin, range.end - range.begin));
  }
  return out;
}

TEST(Sentences, EndAtSignsFollowedBySpace) {
  EXPECT_EQ(parts("One. Two!  Three?\nFour…"), (Parts{"One.", "Two!", "Three?", "Four…"}));
  EXPECT_EQ(parts("He said \"Stop.\" Then (he left.) Done"),
            (Parts{"He said \"Stop.\"", "Then (he left.)", "Done"}));
  EXPECT_EQ(parts("What?! Yes... Maybe"), (Parts{"What?!", "Yes...", "Maybe"}));
  EXPECT_EQ(parts(""), Parts{});
  EXPECT_EQ(parts(" \n\t "), Parts{});
}

TEST(Sentences, DoNotEndInsideNumbersAbbreviationsAndInitials) {
  EXPECT_EQ(parts("Pi is 3.14 here."), (Parts{"Pi is 3.14 here."}));
  EXPECT_EQ(parts("Dr. Smith met J. R. Jones, i.e. his friend. Good."),
            (Parts{"Dr. Smith met J. R. Jones, i.e. his friend.", "Good."}));
  EXPECT_EQ(parts("See file.txt and example.org. Next"),
            (Parts{"See file.txt and example.org.", "Next"}));
  EXPECT_EQ(parts("Apples, pears etc. are fruit."), (Parts{"Apples, pears etc. are fruit."}));
  EXPECT_EQ(parts("1. First point"), (Parts{"1. First point"}));
  EXPECT_EQ(parts("It was I. She left."), (Parts{"It was I.", "She left."}));
}

TEST(Sentences, FullWidthSignsNeedNoSpace) {
  EXPECT_EQ(parts("今日は。元気ですか？はい"), (Parts{"今日は。", "元気ですか？", "はい"}));
  EXPECT_EQ(parts("「今日は。」はい"), (Parts{"「今日は。」", "はい"}));
}

TEST(Sentences, EndAtBlankLinesAndListItems) {
  EXPECT_EQ(parts("A title\n\nThe text\ngoes on"), (Parts{"A title", "The text\ngoes on"}));
  EXPECT_EQ(parts("Items:\n- one\n- two\n* three\n12) four\nand more"),
            (Parts{"Items:", "- one", "- two", "* three", "12) four\nand more"}));
  EXPECT_EQ(parts("a\r\n\r\nb"), (Parts{"a", "b"}));
}

TEST(Sentences, CoverEverythingThatIsNotSpaceInHostileText) {
  const std::string text = std::string("\xFF\xFE. a\0b. ", 9) + std::string(50000, '.') + " \x80";
  size_t end = 0;
  for (const Range& range : split_sentences(text)) {
    EXPECT_LT(range.begin, range.end);
    for (size_t i = end; i < range.begin; ++i) {
      EXPECT_EQ(text[i], ' ');
    }
    end = range.end;
  }
  EXPECT_EQ(end, text.size());
}

}  // namespace
}  // namespace sibyl::text
