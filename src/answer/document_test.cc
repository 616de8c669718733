#include "answer/document.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::answer {
namespace {

TEST(ParseDocument, EveryFieldHasItsPlaceAndOthersAreMetadata) {
  const auto document = parse_document(
      R"({"id": "a", "title": "T", "headings": ["H1", "H2"], "text": "Body", "url": "http://x",
          "metadata": {"year": 2020}, "status": "open", "year": 1})",
      "");
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->id, "a");
  EXPECT_EQ(document->headings, (std::vector<std::string>{"H1", "H2"}));
  EXPECT_EQ(document->url, "http://x");
  // What stands in "metadata" wins over a field of the same name.
  EXPECT_EQ(document->metadata, R"({"year":2020,"status":"open"})");
  ASSERT_EQ(document->sections.size(), 1U);
  EXPECT_EQ(document->sections[0].headings, document->headings);
  EXPECT_EQ(document->sections[0].range, (text::Range{0, 4}));
  EXPECT_EQ(whole_text(*document), "T\nH1\nH2\nBody");
  EXPECT_EQ(heading_text(*document), "T\nH1\nH2");
}

TEST(ParseDocument, SourceIsGivenBackAsItWas) {
  const std::string json = R"({ "text" : "x",  "id":"7" })";
  EXPECT_EQ(parse_document("  " + json + "\n", "")->source, json);
}

TEST(ParseDocument, MissingIdIsPutIn) {
  EXPECT_EQ(parse_document(R"({"text": "x"})", "f#3")->source, R"({"id": "f#3", "text": "x"})");
  const auto null_id = parse_document(R"({"text": "x", "id": null})", "f");
  EXPECT_EQ(base::parse_json(null_id->source)->at("id"), "f");
  EXPECT_EQ(parse_document(R"({"id": 12, "text": "x"})", "")->id, "12");
  EXPECT_EQ(content_id(" {\"text\":1}\n"), content_id("{\"text\":1}"));
}

TEST(ParseDocument, ErrorsNameFieldAndValue) {
  const auto message = [](std::string_view json) {
    const auto document = parse_document(json, "d");
    EXPECT_EQ(document.error().code, Code::InvalidData);
    return document.error().field + "|" + document.error().message;
  };
  EXPECT_EQ(message(R"({"text": 5})"), "text|text: 5 is a number; a text is right");
  EXPECT_EQ(message(R"({"title": "x"})"), "text|text: is missing; each document needs one");
  EXPECT_EQ(message(R"({"text": " "})"), "text|text: is empty, and so are title and headings");
  EXPECT_EQ(message(R"({"text": "x", "headings": ["a", 1]})"),
            "headings[1]|headings[1]: 1 is a number; a text is right");
  EXPECT_EQ(message(R"({"text": "x", "metadata": []})"),
            "metadata|metadata: [] is a array; an object is right");
  EXPECT_FALSE(message("[1]").empty());
  EXPECT_FALSE(message("{\"text\": \"\xFF\"}").empty());
  EXPECT_FALSE(message(std::string(100, '\0')).empty());
  EXPECT_EQ(parse_document(R"({"text": "x"})", "").error().field, "id");
}

TEST(ParseDocument, ReadersSectionsComeBack) {
  Document document;
  document.id = "a";
  document.title = "Guide";
  document.text = "Install\n\nRun it.";
  document.headings = {"Install"};
  document.metadata = "{}";
  document.headings_in_text = true;
  document.sections = {{{"Install"}, {9, 16}}};
  const auto back = parse_document(document_to_json(document), "");
  ASSERT_TRUE(back.has_value()) << back.error().message;
  ASSERT_EQ(back->sections.size(), 1U);
  EXPECT_EQ(back->sections[0].range, (text::Range{9, 16}));
  // The heading stands in the text already and must not count twice.
  EXPECT_EQ(whole_text(*back), "Guide\nInstall\n\nRun it.");
  EXPECT_EQ(heading_text(*back), "Guide\nInstall");
}

TEST(ParseDocument, LyingSectionsAreRefusedAndForeignOnesAreMetadata) {
  EXPECT_EQ(parse_document(
                R"({"id":"a","text":"abc","sections":[{"headings":[],"begin":2,"end":9}]})", "")
                .error()
                .field,
            "sections");
  EXPECT_EQ(parse_document(
                R"({"id":"a","text":"abc","sections":[{"headings":[],"begin":2,"end":3},
                    {"headings":[],"begin":1,"end":3}]})",
                "")
                .error()
                .field,
            "sections");
  EXPECT_EQ(parse_document(R"({"id":"a","text":"abc","sections":["one"]})", "")->metadata,
            R"({"sections":["one"]})");
}

}  // namespace
}  // namespace sibyl::answer
