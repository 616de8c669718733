#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/gzip.h"
#include "server/internal/page_table.h"
#include "server/page.h"

namespace sibyl::server {
namespace {

TEST(PageAssets, AreSortedAndEachIsFoundByItsPath) {
  // The search is by halves: an unsorted table would lose files without a word.
  EXPECT_TRUE(std::ranges::is_sorted(page_assets(), {}, &PageAsset::path));
  for (const PageAsset& asset : page_assets()) {
    EXPECT_EQ(find_page_asset(asset.path), &asset);
  }
}

TEST(PageAssets, UnknownPathsAreNotThere) {
  for (const std::string_view path :
       {"", "/", "index.html", "/index.htm", "/../etc/passwd", "/zzz"}) {
    EXPECT_EQ(find_page_asset(path), nullptr) << path;
  }
}

TEST(PageAssets, IndexNamesHashedFilesThatAreThere) {
  const PageAsset* index = find_page_asset("/index.html");
  if (index == nullptr) {
    GTEST_SKIP() << "built with SIBYL_WEB=OFF: there is no page";
  }
  EXPECT_FALSE(index->immutable);
  EXPECT_EQ(index->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(index->etag.size(), 66U);
  const auto html = base::gunzip(index->gzip, 1 << 20);
  ASSERT_TRUE(html.has_value()) << html.error().message;
  int scripts = 0;
  for (const PageAsset& asset : page_assets()) {
    if (asset.path.starts_with("/assets/") && asset.path.ends_with(".js")) {
      EXPECT_TRUE(asset.immutable) << asset.path;
      scripts += html->find(asset.path) != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(scripts, 1);
}

}  // namespace
}  // namespace sibyl::server
