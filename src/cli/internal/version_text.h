#pragma once

#include <string>

namespace sibyl::cli {

/// Several lines: version, CPU kernels, libraries.
std::string version_text();

}  // namespace sibyl::cli
