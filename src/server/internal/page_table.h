#pragma once

#include <array>
#include <span>

#include "server/page.h"

namespace sibyl::server {

/// Every file of the page, sorted by path; empty when none was built in. Its definition is written
/// at build time (cmake/web/embed_page.cmake).
std::span<const PageAsset> page_assets();

}  // namespace sibyl::server
