#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "job/workspace.h"

namespace sibyl::job::internal {

/// Writes progress events of one stage of a step, at most two a second, the last one always. A
/// failed write is not an error of the work itself.
class ProgressEvents {
 public:
  ProgressEvents(Workspace& workspace, std::string_view step, std::string stage, std::string unit);
  void report(uint64_t done, uint64_t total);

 private:
  Workspace& workspace_;
  const std::string_view step_;
  const std::string stage_;
  const std::string unit_;
  const int64_t start_us_;
  int64_t last_us_ = 0;
};

}  // namespace sibyl::job::internal
