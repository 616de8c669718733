#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::job {
namespace internal {
class WorkspaceMirror;
}

/// A job's folder (INTERFACE section 5; docs/formats/workspace.md): job.json, data/, base/,
/// checkpoints/, model/, report/, events.jsonl, done/STEP. Used by one step at a time. Of a
/// workspace in an object store this is the copy that one step works in.
class Workspace {
 public:
  /// A folder, or "s3://bucket/prefix/runs/RUN" (docs/formats/workspace.md); the store is the one
  /// that the environment names.
  static Result<Workspace> open(const std::string& directory_or_uri);
  const std::string& path() const { return path_; }
  std::string file(std::string_view relative) const;

  Result<base::Json> job() const;
  Result<void> write_job(const base::Json& job);
  bool done(std::string_view step) const;
  Result<void> mark_done(std::string_view step);
  /// Appends one event line; `event` must be an object, "time" and "step" are put in.
  Result<void> append_event(std::string_view step, base::Json event);

  /// Whether the files lie in an object store; if not, the calls below do nothing.
  bool is_remote() const { return mirror_ != nullptr; }
  /// Brings down what `step` reads; Interrupted when `stop` is requested.
  Result<void> fetch(std::string_view step, const std::stop_token& stop);
  /// Brings up what `step` has changed, events first, marks of done steps last; Interrupted when
  /// `stop` is requested.
  Result<void> save(std::string_view step, const std::stop_token& stop);
  /// Brings up checkpoints and events while another process of the step writes them.
  Result<void> save_progress(const std::stop_token& stop);

 private:
  explicit Workspace(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::shared_ptr<internal::WorkspaceMirror> mirror_;
};

}  // namespace sibyl::job
