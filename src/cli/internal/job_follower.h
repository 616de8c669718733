#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cli/internal/owner.h"
#include "cli/internal/terminal.h"

namespace sibyl::cli {

/// Follows a job's event stream to its end: bar, notes and metrics for people, one JSON object a
/// line with --json.
class JobFollower {
 public:
  JobFollower(Owner& owner, const Terminal& terminal, std::string id);
  /// The exit status of the job: 0 when done, that of the failed step, 75 when it was interrupted.
  /// Interrupted when this process is asked to stop.
  Result<int> follow();

 private:
  void take(std::string_view bytes);
  void take_line(const std::string& line);
  void show(const base::Json& event);
  void show_progress(const base::Json& event);
  void show_plan(const base::Json& event);

  Owner& owner_;
  const Terminal& terminal_;
  const std::string id_;
  ProgressBar bar_;
  std::string bar_stage_;
  std::string rest_;    // of the stream, not yet a whole line
  bool ended_ = false;  // the stream said that the job has ended
  bool end_comes_ = false;
  int step_status_ = 0;
};

/// Follows job `id`, says how it ended and prints its table. `data_directory` is the owner's.
Result<int> follow_job(Owner& owner, const Terminal& terminal, const std::string& data_directory,
                       const std::string& id);

}  // namespace sibyl::cli
