#include "base/versions.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <spdlog/version.h>
#include <zlib.h>

namespace sibyl::base {

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                              FMT_VERSION % 100)},
          {"simdjson", fmt::format("{}.{}.{}", static_cast<int>(simdjson::SIMDJSON_VERSION_MAJOR),
                                   static_cast<int>(simdjson::SIMDJSON_VERSION_MINOR),
                                   static_cast<int>(simdjson::SIMDJSON_VERSION_REVISION))},
          {"spdlog", fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)},
          {"zlib", ::zlibVersion()}};
}

}  // namespace sibyl::base
