#include "answer/internal/html_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace sibyl::answer::internal {
namespace {

Document read(std::string_view html) {
  auto document = read_html(html, 512);
  EXPECT_TRUE(document.has_value()) << document.error().message;
  return document ? *document : Document{};
}

std::string part(const Document& document, size_t section) {
  const text::Range range = document.sections.at(section).range;
  return document.text.substr(range.begin, range.end - range.begin);
}

TEST(ReadHtml, ContentStaysAndNavigationGoes) {
  const Document document = read(R"(<!DOCTYPE html><html><head><title>Tea  guide</title>
    <style>p { color: red }</style><script>var x = "<p>no</p>";</script></head><body>
    <header><a href="/">Home</a></header>
    <nav><ul><li><a href="/a">A</a></li></ul></nav>
    <div class="breadcrumbs">You are here</div>
    <div role="navigation">Site map</div>
    <main><h1>Tea guide</h1><p>Boil   water.</p>
    <h2>Green tea</h2><p>At <b>80</b> degrees.<br>Two minutes.</p>
    <aside>Advertisement</aside><form><input><p>Sign up</p></form></main>
    <footer>Imprint</footer></body></html>)");
  EXPECT_EQ(document.title, "Tea guide");
  EXPECT_EQ(document.text, "Boil water.\n\nGreen tea\n\nAt 80 degrees.\nTwo minutes.");
  ASSERT_EQ(document.sections.size(), 2U);
  EXPECT_TRUE(document.sections[0].headings.empty());
  EXPECT_EQ(part(document, 0), "Boil water.");
  EXPECT_EQ(document.sections[1].headings, std::vector<std::string>{"Green tea"});
  EXPECT_EQ(part(document, 1), "At 80 degrees.\nTwo minutes.");
  EXPECT_EQ(whole_text(document),
            "Tea guide\nBoil water.\n\nGreen tea\n\nAt 80 degrees.\nTwo minutes.");
}

TEST(ReadHtml, HeadingPathsNest) {
  const Document document =
      read("<h1>Book</h1><h2>One</h2><p>a</p><h3>Deep</h3><p>b</p><h2>Two</h2><p>c</p>");
  EXPECT_EQ(document.title, "Book");
  ASSERT_EQ(document.sections.size(), 3U);
  EXPECT_EQ(document.sections[1].headings, (std::vector<std::string>{"One", "Deep"}));
  EXPECT_EQ(document.sections[2].headings, std::vector<std::string>{"Two"});
  EXPECT_EQ(document.headings, (std::vector<std::string>{"One", "Deep", "Two"}));
}

TEST(ReadHtml, ListsTablesAndCodeStayReadable) {
  EXPECT_EQ(read("<p>Steps:</p><ol><li>Open</li><li><p>Pour</p></li></ol><ul><li>x<ul><li>y</li>"
                 "</ul></li></ul>")
                .text,
            "Steps:\n\n1. Open\n2. Pour\n\n- x\n- y");
  EXPECT_EQ(read("<table><tr><th>Name</th><th>Size</th></tr><tr><td>A<td><b>1</b></table>").text,
            "Name | Size\nA | 1");
  EXPECT_EQ(
      read("<table><tr><td><h2>Left</h2><p>one</p></td><td><p>two</p></td></tr></table>").text,
      "Left\n\none\n\ntwo");
  EXPECT_EQ(read("<p>Run</p><pre>  a = 1\n    b</pre>").text, "Run\n\n  a = 1\n    b");
  EXPECT_EQ(read("<dl><dt>Term<dd>Meaning</dl>").text, "Term\nMeaning");
}

TEST(ReadHtml, ListsOfLinksAreDroppedUnlessNothingElseIsThere) {
  const std::string links =
      "<ul><li><a href=a>First page</a><li><a href=b>Second page</a><li><a href=c>Third page</a>"
      "<li><a href=d>Fourth page</a></ul>";
  EXPECT_EQ(read(links + "<p>Text.</p>").text, "Text.");
  EXPECT_EQ(read(links).text, "- First page\n- Second page\n- Third page\n- Fourth page");
  EXPECT_EQ(read("<p>See <a href=a>one</a>.</p>").text, "See one.");
}

TEST(ReadHtml, TablesOfContentsOfGeneratedPagesAreDropped) {
  EXPECT_EQ(
      read("<div class=\"navheader\"><table><tr><td>Prev</td></tr></table></div>"
           "<div class=\"toc\"><p>Table of Contents</p></div><div role=\"main\" class=body>"
           "<div class=\"contents topic\" id=\"toc\">x</div>"
           "<h2>Use<a class=\"headerlink\" href=\"#u\">&para;</a></h2><p>Yes &amp; no.</p></div>")
          .text,
      "Use\n\nYes & no.");
}

TEST(ReadHtml, HiddenPartsAndPagesWithoutText) {
  EXPECT_EQ(read("<p hidden>a</p><p style='display: none'>b</p><p aria-hidden=true>c</p>d").text,
            "d");
  EXPECT_FALSE(read_html("<html><body><script>x</script></body></html>", 512).has_value());
  EXPECT_FALSE(read_html("", 512).has_value());
}

TEST(ReadHtml, DeepNestingIsRefusedAndSloppyPagesPass) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "<div>";
  }
  const auto refused = read_html(deep + "x", 512);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::InvalidData);
  EXPECT_NE(refused.error().message.find("512"), std::string::npos);

  std::string sloppy = "<ul>";
  for (int i = 0; i < 5000; ++i) {
    sloppy += "<li>item <a name=x" + std::to_string(i) + ">anchor<p>one<p>two";
  }
  EXPECT_TRUE(read_html(sloppy, 512).has_value());
}

// Each of these reaches the parser by a way that a simple count of tags does not see.
TEST(ReadHtml, HostilePagesEndInAnErrorOrADocument) {
  const auto repeat = [](std::string_view part, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      out += part;
    }
    return out;
  };
  std::string fonts;
  for (int i = 0; i < 400; ++i) {
    fonts += "<font color=" + std::to_string(i) + ">";
  }
  const std::vector<std::string> pages = {
      repeat("<b>", 20'000) + "x",
      fonts + repeat("<p>x", 20'000),
      "<svg><style>" + repeat("<g>", 2000) + "x",
      "<svg><foreignObject><div></svg><style></div></foreignObject>" + repeat("<a>", 2000),
      repeat("<table><tr><td>", 2000) + "x",
      repeat("<a href=x>", 20'000),
      "<!--" + repeat("<div>", 2000),
      repeat("</p>", 20'000),
      repeat("&#x10FFFF;", 2000) + repeat("&#0;", 100),
      std::string(1000, '<') + std::string(1000, '\0') + "<p",
      "<title>" + repeat("<div>", 1000),
      repeat("<template>", 300) + "x",
      repeat("<select><option>", 1000),
      repeat("<button><p>", 1000),
      "<frameset>" + repeat("<frame>", 1000),
      repeat("<ruby><rt>", 300) + repeat("<form>", 300),
  };
  for (const std::string& page : pages) {
    const auto document = read_html(page, 512);
    if (!document) {
      EXPECT_EQ(document.error().code, Code::InvalidData) << page.substr(0, 40);
    }
  }
}

TEST(DeclaredCharset, FromMetaAndXml) {
  EXPECT_EQ(declared_charset("<META CHARSET='ISO-8859-2'>"), "iso-8859-2");
  EXPECT_EQ(declared_charset("<meta name=a><meta http-equiv=\"Content-Type\" "
                             "content=\"text/html; charset=windows-1251\">"),
            "windows-1251");
  EXPECT_EQ(declared_charset("<?xml version=\"1.0\" encoding=\"utf-8\"?>"), "utf-8");
  EXPECT_EQ(declared_charset("<p>charset=x"), "");
  EXPECT_EQ(declared_charset("<meta charset="), "");
}

}  // namespace
}  // namespace sibyl::answer::internal
