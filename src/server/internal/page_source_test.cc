#include "server/internal/page_source.h"

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/gzip.h"
#include "server/page.h"

namespace sibyl::server {
namespace {

Request get(const std::string& path, std::map<std::string, std::string> headers = {}) {
  Request request;
  request.method = "GET";
  request.path = path;
  request.headers = std::move(headers);
  return request;
}

class WebRoot : public testing::Test {
 protected:
  WebRoot() {
    write("index.html", "<p>page</p>");
    EXPECT_TRUE(
        base::real_file_system().create_directories(base::join_path(folder_.path(), "assets")));
    write("assets/a.js", "go()");
    write(".secret", "hidden");
    page_ = PageSource::create(folder_.path());
  }
  void write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(base::replace_file(base::join_path(folder_.path(), name), content));
  }

  base::TemporaryDirectory folder_;
  std::unique_ptr<PageSource> page_;
};

TEST_F(WebRoot, FilesHaveTypeTagAndPolicy) {
  const auto script = page_->find(get("/assets/a.js"));
  ASSERT_TRUE(script);
  EXPECT_EQ(script->body, "go()");
  EXPECT_EQ(script->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(script->headers.at("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(script->headers.at("Content-Security-Policy").find("default-src 'self'"), 0U);
  const auto again =
      page_->find(get("/assets/a.js", {{"if-none-match", script->headers.at("ETag")}}));
  EXPECT_EQ(again->status, 304);
  EXPECT_TRUE(again->body.empty());
}

TEST_F(WebRoot, AddressesOfThePageGiveTheIndexAndFilesThatAreNotThereNothing) {
  EXPECT_EQ(page_->find(get("/"))->body, "<p>page</p>");
  EXPECT_EQ(page_->find(get("/collections/faq"))->body, "<p>page</p>");
  EXPECT_FALSE(page_->find(get("/assets/b.js")));
  EXPECT_FALSE(page_->find(get("/v1/nothing")));
}

TEST_F(WebRoot, NothingOutsideTheFolderIsServed) {
  for (const std::string path : {"/../index.html", "/%2e%2e/etc/passwd", "/a/..%2f..%2fetc/passwd",
                                 "/.secret", "/assets/%00", "/..%5c"}) {
    EXPECT_FALSE(page_->find(get(path))) << path;
  }
}

TEST(EmbeddedPage, IndexIsServedPlainOrPackedAndSaysSoWhenItWasNotBuilt) {
  const auto page = PageSource::create("");
  const auto plain = page->find(get("/"));
  ASSERT_TRUE(plain);
  const PageAsset* index = find_page_asset("/index.html");
  if (index == nullptr) {
    EXPECT_NE(plain->body.find("without its page"), std::string::npos);
    return;
  }
  const auto packed = page->find(get("/", {{"accept-encoding", "br, gzip"}}));
  EXPECT_EQ(packed->headers.at("Content-Encoding"), "gzip");
  EXPECT_EQ(base::gunzip(packed->body, 1 << 20).value(), plain->body);
  EXPECT_EQ(packed->headers.at("Cache-Control"), "no-cache");
}

TEST(PageSource, GzipIsSentOnlyToThoseWhoTakeIt) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("br;q=1, gzip;q=0.5"));
  EXPECT_TRUE(accepts_gzip("*"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("br"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("gzip; q=0.000, *"));
}

TEST(PageSource, TagsAreComparedWeakly) {
  EXPECT_TRUE(matches_etag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(matches_etag("*", "\"b\""));
  EXPECT_FALSE(matches_etag("\"a\"", "\"b\""));
  EXPECT_FALSE(matches_etag("", "\"b\""));
}

}  // namespace
}  // namespace sibyl::server
