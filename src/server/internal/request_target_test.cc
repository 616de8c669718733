#include "server/internal/request_target.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

TEST(RequestTarget, CutsPathAndQueryAndDecodesOnlyTheQuery) {
  const auto target = parse_request_target("/v1/a%2Fb?after=x%26y&limit=5&flag&sp=a+b");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/a%2Fb");
  EXPECT_EQ(target->query, (std::map<std::string, std::string>{
                               {"after", "x&y"}, {"limit", "5"}, {"flag", ""}, {"sp", "a b"}}));
}

TEST(RequestTarget, TheLastOfEqualNamesWins) {
  EXPECT_EQ(parse_request_target("/?a=1&a=2")->query.at("a"), "2");
}

TEST(RequestTarget, AbsoluteFormIsReadAsItsPath) {
  EXPECT_EQ(parse_request_target("http://host:80/a?b=c")->path, "/a");
  EXPECT_EQ(parse_request_target("http://host")->path, "/");
}

TEST(RequestTarget, HostileTargetsAreRefused) {
  for (const std::string_view bad : {"", "*", "a", "host:443", "/a b", "/a\nb", "/a#b", "?a",
                                     "/a?b=%", "/a?%zz=1", "http://host?a"}) {
    EXPECT_FALSE(parse_request_target(bad)) << bad;
  }
  EXPECT_FALSE(parse_request_target("/" + std::string(kTargetBytesMax, 'a')));
  std::string many = "/?";
  for (size_t i = 0; i <= kQueryParametersMax; ++i) {
    many += "a" + std::to_string(i) + "=1&";
  }
  EXPECT_FALSE(parse_request_target(many));
}

TEST(SplitPath, SegmentsAreDecodedOneByOne) {
  EXPECT_EQ(split_path("/").value(), std::vector<std::string>{});
  EXPECT_EQ(split_path("/a/b%2Fc").value(), (std::vector<std::string>{"a", "b/c"}));
  EXPECT_EQ(split_path("/a/").value(), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(split_path("//a").value(), (std::vector<std::string>{"", "a"}));
}

TEST(SplitPath, BrokenEscapesAndEndlessPathsAreRefused) {
  EXPECT_FALSE(split_path("/a/%"));
  EXPECT_FALSE(split_path("a"));
  std::string deep;
  for (size_t i = 0; i <= kPathSegmentsMax; ++i) {
    deep += "/a";
  }
  EXPECT_FALSE(split_path(deep));
}

}  // namespace
}  // namespace sibyl::server
