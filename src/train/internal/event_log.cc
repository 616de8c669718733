#include "train/internal/event_log.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

namespace sibyl::train {

Result<void> EventLog::append(std::string_view event, base::Json fields) {
  base::Json line = {{"time", base::format_time(base::system_clock().now_us())},
                     {"step", "train"},
                     {"event", event}};
  line.update(fields);
  const std::string text = base::dump_json(line) + "\n";
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) {
    return fail(code_from_errno(errno), "{}: {}", path_, std::strerror(errno));
  }
  // One write of a whole line: readers that follow the file never see half of one.
  const ssize_t written = ::write(file, text.data(), text.size());
  const int error = errno;
  ::close(file);
  if (written != static_cast<ssize_t>(text.size())) {
    return fail(Code::IoError, "{}: {}", path_, written < 0 ? std::strerror(error) : "disk full");
  }
  return {};
}

Result<void> EventLog::device(const std::string& line) {
  base::log_info("train", "{}", line);
  return append("device", {{"text", line}});
}

Result<void> EventLog::note(const std::string& text) {
  base::log_info("train", "{}", text);
  return append("note", {{"text", text}});
}

Result<void> EventLog::metric(std::string_view stage, size_t epoch, double value, double best) {
  base::log_info("train",
                 "stage {}, epoch {}: nDCG@10 {:.4f} on the validation questions (best {:.4f})",
                 stage, epoch, value, best);
  return append("metric", {{"name", "ndcg_at_10"},
                           {"value", value},
                           {"stage", stage},
                           {"epoch", epoch},
                           {"best", best}});
}

Result<void> EventLog::progress(const Progress& progress) {
  base::log_debug("train", "stage {}: {} of {} pairs, loss {:.4f}", progress.stage, progress.done,
                  progress.total, progress.loss);
  return append("progress", {{"stage", progress.stage},
                             {"done", progress.done},
                             {"total", progress.total},
                             {"unit", "pairs"},
                             {"rate", progress.rate},
                             {"left_s", progress.left_s},
                             {"loss", progress.loss},
                             {"epoch", progress.epoch}});
}

}  // namespace sibyl::train
