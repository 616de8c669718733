#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sibyl::base {

/// Name and version of the libraries that this room owns, and of fmt.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace sibyl::base
