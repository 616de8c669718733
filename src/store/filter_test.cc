#include "store/filter.h"

#include <gtest/gtest.h>

namespace sibyl::store {
namespace {

constexpr std::string_view kRow = R"({
  "status": "open", "year": 2021, "price": 19.5, "negative": -3, "archived": false,
  "tags": ["new", "blue", 7, true], "published": "2020-05-01", "at": "2020-05-01T12:00:00+02:00",
  "author": {"name": "Ada", "born": 1815, "deep": {"er": "x"}}, "odd name": 1, "a.b": "dotted",
  "nothing": null, "big": 9007199254740993, "empty": [], "größe": "klein", "in": 5
})";

bool matches(std::string_view filter, std::string_view row = kRow) {
  const auto parsed = Filter::parse(filter);
  EXPECT_TRUE(parsed) << filter << ": " << (parsed ? "" : parsed.error().message);
  return parsed && (*parsed)->matches(row);
}

struct Case {
  std::string_view filter;
  bool expected;
};

class FilterTable : public testing::TestWithParam<Case> {};

TEST_P(FilterTable, Decides) {
  EXPECT_EQ(matches(GetParam().filter), GetParam().expected) << GetParam().filter;
}

INSTANTIATE_TEST_SUITE_P(
    Comparisons, FilterTable,
    testing::Values(Case{R"(status = "open" and (year >= 2020 or not tags contains "old"))", true},
                    Case{R"(status = 'open')", true}, Case{R"(status != "open")", false},
                    Case{R"(status < "p")", true}, Case{R"(status >= "p")", false},
                    Case{"year = 2021", true}, Case{"year = 2021.0", true},
                    Case{"year > 2021", false}, Case{"year <= 2021", true},
                    Case{R"(year = "2021")", false}, Case{R"(year < "3")", false},
                    Case{"price < 19.6", true}, Case{"price = 1.95e1", true},
                    Case{"negative = -3", true}, Case{"archived = false", true},
                    Case{"archived = true", false}, Case{"archived != true", true},
                    Case{"big = 9007199254740993", true}, Case{"big = 9007199254740992", false},
                    Case{"big in [9007199254740992]", false}, Case{"`in` = 5", true}));

INSTANTIATE_TEST_SUITE_P(
    Lists, FilterTable,
    testing::Values(Case{R"(status in ["closed", "open"])", true},
                    Case{R"(status in ("closed"))", false},
                    Case{R"(status not in ["closed"])", true}, Case{"year in []", false},
                    Case{"year in [2020, 2021.0]", true}, Case{"archived in [true]", false},
                    Case{R"(tags contains "new")", true}, Case{"tags contains 7", true},
                    Case{"tags contains true", true}, Case{R"(tags contains "ne")", false},
                    Case{R"(tags in ["x", "blue"])", true}, Case{R"(tags = "new")", false},
                    Case{R"(tags = ["new", "blue", 7, true])", true},
                    Case{R"(tags = ["new"])", false}, Case{R"(tags != ["new"])", true},
                    Case{"empty = []", true}, Case{R"(status contains "pe")", true},
                    Case{R"(status starts_with "op")", true},
                    Case{R"(status starts_with "pe")", false},
                    Case{R"(tags starts_with "bl")", true}, Case{R"(year contains "2")", false}));

INSTANTIATE_TEST_SUITE_P(
    DatesAndPaths, FilterTable,
    testing::Values(Case{R"(published = "2020-05-01T00:00:00Z")", true},
                    Case{R"(published < "2020-05-01T00:00:01")", true},
                    Case{R"(at = "2020-05-01T10:00:00Z")", true},
                    Case{R"(at > "2020-05-01")", true}, Case{R"(at in ["2020-05-01 10:00"])", true},
                    Case{R"(published < "2020-5-1")", true},  // no date: compared as text
                    Case{R"(author.name = "Ada")", true}, Case{"author.born < 1900", true},
                    Case{R"(author.deep.er = "x")", true}, Case{R"(author.`deep`.er = "x")", true},
                    Case{"author exists", true}, Case{"author.died exists", false},
                    Case{"exists author.name", true}, Case{"exists(author.died)", false},
                    Case{"`odd name` = 1", true}, Case{R"(`a.b` = "dotted")", true},
                    Case{R"(a.b = "dotted")", false}, Case{R"(größe = "klein")", true},
                    Case{R"(status.name = "x")", false}));

INSTANTIATE_TEST_SUITE_P(
    MissingAndLogic, FilterTable,
    testing::Values(Case{"missing = 1", false}, Case{"missing != 1", true},
                    Case{"missing < 1", false}, Case{"not missing = 1", true},
                    Case{"missing in [1]", false}, Case{"missing not in [1]", true},
                    Case{"nothing exists", false}, Case{"nothing != 1", true},
                    Case{"missing contains 1", false},
                    Case{"year = 1 or year = 2021 and archived = true", false},
                    Case{"(year = 1 or year = 2021) and archived = false", true},
                    Case{"NOT (year = 1) AND year EXISTS", true},
                    Case{"not not year = 2021", true}));

TEST(Filter, EscapesInTexts) {
  EXPECT_TRUE(matches(R"(a = "q\"\\\n\u00e9")", R"({"a": "q\"\\\né"})"));
  EXPECT_TRUE(matches(R"(a = 'it\'s')", R"({"a": "it's"})"));
}

TEST(Filter, RowsWithoutMetadataMatchOnlyNegations) {
  EXPECT_FALSE(matches("a = 1", ""));
  EXPECT_TRUE(matches("a != 1", ""));
  EXPECT_FALSE(matches("a != 1", "not json"));
}

struct Wrong {
  std::string_view filter;
  size_t position;
  std::string_view words;
};

class FilterErrors : public testing::TestWithParam<Wrong> {};

TEST_P(FilterErrors, NameThePositionAndWhatWouldBeRight) {
  const auto parsed = Filter::parse(GetParam().filter);
  ASSERT_FALSE(parsed) << GetParam().filter;
  EXPECT_EQ(parsed.error().code, Code::InvalidArgument);
  EXPECT_EQ(parsed.error().field, "filter");
  const std::string& message = parsed.error().message;
  EXPECT_NE(message.find(fmt::format("position {}:", GetParam().position)), std::string::npos)
      << message;
  EXPECT_NE(message.find(GetParam().words), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, FilterErrors,
    testing::Values(Wrong{"", 1, "name of a field"}, Wrong{"year", 5, "expected one of"},
                    Wrong{"year = ", 8, "a number"}, Wrong{"year == 1", 6, "'='"},
                    Wrong{"year <> 1", 6, "'!='"}, Wrong{"(year = 1", 10, "')'"},
                    Wrong{"year = 1)", 9, "'and', 'or'"}, Wrong{"year = abc", 8, "quotes"},
                    Wrong{"a = \"x", 5, "closing"}, Wrong{"a = 'x\\q'", 7, "backslash"},
                    Wrong{"a in 3", 6, "list"}, Wrong{"a in [1, 2", 11, "']'"},
                    Wrong{"a in [[1]]", 7, "number"}, Wrong{"a.= 1", 3, "name"},
                    Wrong{"`a = 1", 1, "backquote"}, Wrong{"a = 2020-01-01", 5, "quotes"},
                    Wrong{"a < true", 5, "= and !="}, Wrong{"a starts_with 3", 15, "text"},
                    Wrong{"and = 1", 1, "backquotes"}, Wrong{"a = 1 & b = 2", 7, "'&'"},
                    Wrong{"a = 1e999", 5, "too large"}, Wrong{"a = \"\\ud800\"", 6, "surrogate"}));

TEST(Filter, DepthAndSizeAreLimited) {
  std::string deep;
  for (size_t i = 0; i < kFilterDepthMax - 1; ++i) {
    deep += "(";
  }
  EXPECT_TRUE(Filter::parse(deep + "a = 1" + std::string(kFilterDepthMax - 1, ')')));
  const auto deeper = Filter::parse("(" + deep + "a = 1" + std::string(kFilterDepthMax, ')'));
  ASSERT_FALSE(deeper);
  EXPECT_NE(deeper.error().message.find("levels"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 5000; ++i) {
    nots += "not";
    nots += " ";
  }
  EXPECT_FALSE(Filter::parse(nots.substr(0, kFilterBytesMax - 10) + "a = 1"));
  const auto large = Filter::parse(std::string(kFilterBytesMax + 1, ' '));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::TooLarge);
  EXPECT_FALSE(Filter::parse("a = \"\xFF\""));
}

}  // namespace
}  // namespace sibyl::store
