#include "job/runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/random.h"
#include "base/stop.h"
#include "job/internal/event_tail.h"
#include "job/internal/job_queue.h"
#include "job/job_file.h"

namespace sibyl::job {
namespace {

constexpr std::array<std::string_view, 6> kStates = {"queued", "running",   "done",
                                                     "failed", "cancelled", "interrupted"};
constexpr uint64_t kLogBytesMax = uint64_t{4} << 20;
constexpr uint64_t kEventBytesMax = uint64_t{1} << 20;

// "helpdesk-20261130-150405-3f2a"
std::string new_id(const std::string& name, int64_t now_us) {
  std::string digits;
  for (const char c : base::format_time(now_us).substr(0, 19)) {
    if (c >= '0' && c <= '9') {
      digits.push_back(c);
    }
  }
  return fmt::format("{}-{}-{}-{}", name, digits.substr(0, 8), digits.substr(8),
                     base::random_hex(2));
}

class FolderRunner final : public JobRunner {
 public:
  explicit FolderRunner(Options options) : options_(options), queue_(std::move(options)) {}

  Result<void> load() { return queue_.load(); }

  Result<std::string> submit(const base::Json& job) override {
    auto parsed = job_from_json(job, "/");
    if (!parsed) {
      return pass_on(parsed);
    }
    if (auto there = check_inputs_exist(*parsed); !there) {
      return pass_on(there);
    }
    JobInfo info;
    info.created_us = base::system_clock().now_us();
    info.id = new_id(parsed->name, info.created_us);
    info.name = parsed->name;
    info.kind = std::string(kind_name(parsed->kind));
    return queue_.add(std::move(info), job_to_json(*parsed));
  }

  std::vector<JobInfo> list() const override { return queue_.list(); }
  Result<JobInfo> find(const std::string& id) const override { return queue_.find(id); }
  Result<void> cancel(const std::string& id) override { return queue_.cancel(id); }
  Result<void> resume(const std::string& id) override { return queue_.resume(id); }

  Result<std::string> log(const std::string& id) const override {
    if (auto info = queue_.find(id); !info) {
      return pass_on(info);
    }
    const auto view =
        base::real_file_system().map(base::join_path(options_.directory, id + "/log.txt"));
    if (!view) {
      return view.error().code == Code::NotFound ? Result<std::string>(std::string())
                                                 : tl::unexpected<Error>(view.error());
    }
    const std::string_view bytes = (*view)->bytes();
    return std::string(bytes.size() > kLogBytesMax ? bytes.substr(bytes.size() - kLogBytesMax)
                                                   : bytes);
  }

  Result<std::vector<std::string>> events(const std::string& id, uint64_t& offset,
                                          int64_t wait_ms) const override {
    const std::string path = base::join_path(options_.directory, id + "/workspace/events.jsonl");
    const int64_t end_us = base::system_clock().steady_us() + wait_ms * 1000;
    for (;;) {
      auto info = queue_.find(id);
      if (!info) {
        return pass_on(info);
      }
      auto lines = internal::lines_from(path, offset, kEventBytesMax);
      const bool ended = info->state != JobState::Queued && info->state != JobState::Running;
      if (!lines || !lines->empty() || ended || base::system_clock().steady_us() >= end_us) {
        return lines;
      }
      base::sleep_until_stop({}, 0.05);
    }
  }

 private:
  const Options options_;
  internal::JobQueue queue_;
};

}  // namespace

std::string_view state_name(JobState state) {
  return kStates[static_cast<size_t>(state)];
}

Result<std::unique_ptr<JobRunner>> JobRunner::open(Options options) {
  if (auto made = base::real_file_system().create_directories(options.directory); !made) {
    return pass_on(made);
  }
  auto runner = std::make_unique<FolderRunner>(std::move(options));
  if (auto loaded = runner->load(); !loaded) {
    return pass_on(loaded);
  }
  return runner;
}

}  // namespace sibyl::job
