#include "job/workspace.h"

#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::job {
namespace {

constexpr uint64_t kJobBytesMax = uint64_t{4} << 20;

}  // namespace

Result<Workspace> Workspace::open(const std::string& directory) {
  if (directory.find("://") != std::string::npos) {
    return fail(Code::Unimplemented,
                "workspace '{}': object stores are not built yet; give a folder", directory);
  }
  Workspace workspace(directory);
  for (const char* const folder : {"data", "done", "report"}) {
    if (auto made = base::real_file_system().create_directories(workspace.file(folder)); !made) {
      return pass_on(made);
    }
  }
  return workspace;
}

std::string Workspace::file(std::string_view relative) const {
  return base::join_path(path_, relative);
}

Result<base::Json> Workspace::job() const {
  const std::string path = file("job.json");
  const auto text = base::read_file(path, kJobBytesMax);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  auto job = base::parse_json(*text, path);
  if (job && !job->is_object()) {
    return fail(Code::InvalidConfig, "{} must hold an object", path);
  }
  return job;
}

Result<void> Workspace::write_job(const base::Json& job) {
  return base::replace_file(file("job.json"), base::dump_json(job, 2) + "\n");
}

bool Workspace::done(std::string_view step) const {
  return base::real_file_system().exists(file(fmt::format("done/{}", step)));
}

Result<void> Workspace::mark_done(std::string_view step) {
  return base::replace_file(file(fmt::format("done/{}", step)), "");
}

Result<void> Workspace::append_event(std::string_view step, base::Json event) {
  base::Json line = {{"time", base::format_time(base::system_clock().now_us())},
                     {"step", std::string(step)}};
  for (auto& [key, value] : event.items()) {
    line[key] = std::move(value);
  }
  auto file_opened = base::real_file_system().open_append(file("events.jsonl"), UINT64_MAX);
  if (!file_opened) {
    return pass_on(file_opened);
  }
  if (auto written = (*file_opened)->append(base::dump_json(line) + "\n"); !written) {
    return written;
  }
  return (*file_opened)->close();
}

}  // namespace sibyl::job
