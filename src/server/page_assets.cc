#include <algorithm>

#include "server/internal/page_table.h"
#include "server/page.h"

namespace sibyl::server {

const PageAsset* find_page_asset(std::string_view path) {
  const std::span<const PageAsset> assets = page_assets();
  const auto found = std::ranges::lower_bound(assets, path, {}, &PageAsset::path);
  return found != assets.end() && found->path == path ? &*found : nullptr;
}

}  // namespace sibyl::server
