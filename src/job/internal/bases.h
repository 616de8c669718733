#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::job::internal {

/// A table of vectors learned from nothing, whose vocabulary comes from the texts.
inline constexpr std::string_view kStaticCustom = "static_custom";

/// Unimplemented, by name, for bases of the job file's form that are not built yet; fine for
/// models' names, folders and static_custom.
Result<void> check_base_name(const std::string& base);

}  // namespace sibyl::job::internal
