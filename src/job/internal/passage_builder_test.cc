#include "job/internal/passage_builder.h"

#include <gtest/gtest.h>

namespace sibyl::job::internal {
namespace {

answer::Document document(const std::string& id, const std::string& title,
                          const std::string& text) {
  answer::Document out;
  out.id = id;
  out.title = title;
  out.text = text;
  out.sections = {{{}, {0, static_cast<uint32_t>(text.size())}}};
  return out;
}

// A long document of `sections` parts, each under its own heading.
answer::Document sectioned(size_t sections) {
  answer::Document out;
  out.id = "long";
  out.title = "Manual";
  for (size_t i = 0; i < sections; ++i) {
    const auto begin = static_cast<uint32_t>(out.text.size());
    for (int j = 0; j < 20; ++j) {
      out.text += fmt::format("Sentence {} of part {} says something. ", j, i);
    }
    out.sections.push_back(
        {{fmt::format("Part {}", i)}, {begin, static_cast<uint32_t>(out.text.size())}});
  }
  return out;
}

TEST(PassageBuilder, AShortDocumentIsOnePassage) {
  const Passages passages = build_passages({document("d", "Title", "Some text.")}, true);
  ASSERT_EQ(passages.items.size(), 1U);
  EXPECT_EQ(passages.items[0].text, "Title\nSome text.");
  EXPECT_EQ(passages.items[0].body, "Some text.");
  EXPECT_EQ(passages.items[0].last_heading, "Title");
}

TEST(PassageBuilder, EqualTextsShareOnePassage) {
  const Passages passages =
      build_passages({document("a", "T", "Same."), document("b", "T", "Same.")}, false);
  EXPECT_EQ(passages.items.size(), 1U);
  EXPECT_EQ(passages.duplicates_dropped, 1U);
  EXPECT_EQ(passages.by_id.at("a"), passages.by_id.at("b"));
}

TEST(PassageBuilder, ALongDocumentIsCutAlongItsSections) {
  const Passages passages = build_passages({sectioned(3)}, true);
  ASSERT_EQ(passages.items.size(), 3U);
  EXPECT_EQ(passages.items[1].last_heading, "Part 1");
  EXPECT_TRUE(passages.items[1].text.starts_with("Manual\nPart 1\nSentence 0 of part 1"));
  EXPECT_EQ(passages.by_id.at("long").size(), 3U);
  EXPECT_EQ(build_passages({sectioned(3)}, false).items.size(), 1U);
}

TEST(PassageBuilder, EmptyDocumentsAreCounted) {
  const Passages passages = build_passages({document("a", "", " \n")}, false);
  EXPECT_TRUE(passages.items.empty());
  EXPECT_EQ(passages.empty_dropped, 1U);
}

}  // namespace
}  // namespace sibyl::job::internal
