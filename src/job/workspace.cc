#include "job/workspace.h"

#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "job/internal/workspace_mirror.h"

namespace sibyl::job {
namespace {

constexpr uint64_t kJobBytesMax = uint64_t{4} << 20;

}  // namespace

Result<Workspace> Workspace::open(const std::string& directory_or_uri) {
  if (net::is_object_uri(directory_or_uri)) {
    auto store = net::object_store_from_environment();
    if (!store) {
      return pass_on(store, "workspace " + directory_or_uri);
    }
    auto mirror = internal::WorkspaceMirror::open(directory_or_uri, std::move(*store));
    if (!mirror) {
      return pass_on(mirror);
    }
    Workspace workspace((*mirror)->folder());
    workspace.mirror_ = std::move(*mirror);
    return workspace;
  }
  if (directory_or_uri.find("://") != std::string::npos) {
    return fail(Code::InvalidArgument,
                "workspace '{}': give a folder, or s3://BUCKET/PREFIX in an object store",
                directory_or_uri);
  }
  Workspace workspace(directory_or_uri);
  for (const char* const folder : {"data", "done", "report"}) {
    if (auto made = base::real_file_system().create_directories(workspace.file(folder)); !made) {
      return pass_on(made);
    }
  }
  return workspace;
}

Result<void> Workspace::fetch(std::string_view step, const std::stop_token& stop) {
  return mirror_ == nullptr ? Result<void>() : mirror_->fetch(step, stop);
}

Result<void> Workspace::save(std::string_view step, const std::stop_token& stop) {
  return mirror_ == nullptr ? Result<void>() : mirror_->save(step, stop);
}

Result<void> Workspace::save_progress(const std::stop_token& stop) {
  return mirror_ == nullptr ? Result<void>() : mirror_->save_progress(stop);
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
