#include "cli/internal/version_text.h"

#include <fmt/format.h>

#include "base/versions.h"
#include "server/application.h"
#include "simd/distance.h"

namespace sibyl::cli {

std::string version_text() {
  std::string text =
      fmt::format("sibyl {}\nkernels: {}\nlibraries:", server::version(), simd::kernel_name());
  for (const auto& [name, version] : base::library_versions()) {
    text += fmt::format(" {} {}", name, version);
  }
  return text;
}

}  // namespace sibyl::cli
