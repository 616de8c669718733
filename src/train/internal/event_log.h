#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::train {

/// Appends the step's events to `events.jsonl` (docs/formats/workspace.md) and says notes, metrics
/// and the device line in the log as well. Externally synchronised.
class EventLog {
 public:
  explicit EventLog(std::string path) : path_(std::move(path)) {}

  Result<void> device(const std::string& line);
  Result<void> note(const std::string& text);
  Result<void> metric(std::string_view stage, size_t epoch, double value, double best);

  struct Progress {
    std::string_view stage;
    size_t done = 0;   ///< pairs
    size_t total = 0;  ///< pairs
    double rate = 0;   ///< pairs a second
    double left_s = 0;
    double loss = 0;
    size_t epoch = 0;
  };
  Result<void> progress(const Progress& progress);

 private:
  Result<void> append(std::string_view event, base::Json fields);

  std::string path_;
};

}  // namespace sibyl::train
