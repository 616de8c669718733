#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/workspace.h"

namespace sibyl::job::internal {

/// Whole lines of a file from byte `offset` on, at most `bytes_max`; moves `offset` behind the
/// last. A missing file has no lines.
Result<std::vector<std::string>> lines_from(const std::string& path, uint64_t& offset,
                                            uint64_t bytes_max);

/// The last "error" that a step wrote into events.jsonl since its last start; empty without one.
std::string last_error(const Workspace& workspace, std::string_view step);

}  // namespace sibyl::job::internal
