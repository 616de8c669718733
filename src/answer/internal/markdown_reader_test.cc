#include "answer/internal/markdown_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace sibyl::answer::internal {
namespace {

Document read(std::string_view markdown) {
  auto document = read_markdown(markdown);
  EXPECT_TRUE(document.has_value()) << document.error().message;
  return document ? *document : Document{};
}

TEST(ReadMarkdown, HeadingsOfBothKindsMakeSections) {
  const Document document = read(
      "# Guide\n\nIntro line\ncontinued.\n\n## Install ##\n\nDo it.\n\nUse\n---\n\nRun C#.\n\n"
      "### Deep C#\ntext\n");
  EXPECT_EQ(document.title, "Guide");
  EXPECT_EQ(document.text,
            "Intro line continued.\n\nInstall\n\nDo it.\n\nUse\n\nRun C#.\n\nDeep C#\n\ntext");
  ASSERT_EQ(document.sections.size(), 4U);
  EXPECT_EQ(document.sections[3].headings, (std::vector<std::string>{"Use", "Deep C#"}));
}

TEST(ReadMarkdown, FrontMatterGivesTitleUrlAndMetadata) {
  const Document document = read(
      "---\ntitle: My page\nurl: http://x/y\ntags: [a, b]\nyear: 2021\n---\n# My page\nText\n");
  EXPECT_EQ(document.title, "My page");
  EXPECT_EQ(document.url, "http://x/y");
  EXPECT_EQ(document.metadata, R"({"tags":["a","b"],"year":2021})");
  EXPECT_EQ(document.text, "Text");
  EXPECT_FALSE(read_markdown("---\na: [\n---\nx\n").has_value());
  EXPECT_EQ(read("---\n\nNo front matter\n").text, "No front matter");
}

TEST(ReadMarkdown, CodeStaysAsItStands) {
  EXPECT_EQ(read("Run:\n\n```sh\n# not a heading\n  *x*\n```\n\nDone\n").text,
            "Run:\n\n# not a heading\n  *x*\n\nDone");
  EXPECT_EQ(read("~~~\na\n```\nb").text, "a\n```\nb");
}

TEST(ReadMarkdown, ListsQuotesTablesAndComments) {
  EXPECT_EQ(read("* one\n* two\n  more\n\n> quoted *text*\n").text,
            "- one\n- two more\n\nquoted text");
  EXPECT_EQ(read("| a | b |\n|---|:-:|\n| 1 | 2 |\n").text, "| a | b |\n| 1 | 2 |");
  EXPECT_EQ(read("<!-- hidden\nstill -->\nshown\n\n[ref]: http://x\n").text, "shown");
}

TEST(PlainInline, MarksGoAndTextStays) {
  EXPECT_EQ(plain_inline("See [the *docs*](http://a/b_(c) \"t\") and ![alt](x.png)."),
            "See the docs and alt.");
  EXPECT_EQ(plain_inline("**bold** _it_ snake_case_name 2 * 3 ~~gone~~"),
            "bold it snake_case_name 2 * 3 gone");
  EXPECT_EQ(plain_inline("`a*b*` ``x`y`` <b>t</b> <http://u> \\*"), "a*b* x`y t http://u *");
  EXPECT_EQ(plain_inline("[x][ref] [plain] a < b &amp; c"), "x [plain] a < b & c");
}

TEST(ReadMarkdown, HostileTextEnds) {
  for (const std::string& text :
       {std::string(50'000, '['), std::string(50'000, '`'), std::string(50'000, '*'),
        std::string(50'000, '<'), std::string(50'000, '>'), std::string(50'000, '#'),
        std::string("a") + std::string(50'000, '\\'),
        std::string("![](") + std::string(50'000, '(')}) {
    const auto document = read_markdown(text);
    EXPECT_TRUE(document.has_value() || document.error().code == Code::InvalidData);
  }
  EXPECT_FALSE(read_markdown("").has_value());
  EXPECT_FALSE(read_markdown("\n\n---\n").has_value());
}

}  // namespace
}  // namespace sibyl::answer::internal
