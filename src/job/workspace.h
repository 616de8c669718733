#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::job {

/// A job's folder (INTERFACE section 5; docs/formats/workspace.md): job.json, data/, base/,
/// checkpoints/, model/, report/, events.jsonl, done/STEP. Used by one step at a time.
class Workspace {
 public:
  static Result<Workspace> open(const std::string& directory);
  const std::string& path() const { return path_; }
  std::string file(std::string_view relative) const;

  Result<base::Json> job() const;
  Result<void> write_job(const base::Json& job);
  bool done(std::string_view step) const;
  Result<void> mark_done(std::string_view step);
  /// Appends one event line; `event` must be an object, "time" and "step" are put in.
  Result<void> append_event(std::string_view step, base::Json event);

 private:
  explicit Workspace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace sibyl::job
