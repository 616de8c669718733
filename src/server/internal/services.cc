#include "server/internal/services.h"

#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

namespace sibyl::server {

Result<std::shared_ptr<job::JobRunner>> Services::jobs() {
  const std::lock_guard lock(jobs_mutex_);
  if (jobs_ == nullptr) {
    return fail(Code::Unavailable, "the server is shutting down; jobs are kept and can be resumed");
  }
  return jobs_;
}

void Services::set_jobs(std::shared_ptr<job::JobRunner> runner) {
  const std::lock_guard lock(jobs_mutex_);
  jobs_ = std::move(runner);
}

void Services::end_jobs() {
  static constexpr std::chrono::milliseconds kPause{10};
  static constexpr int kPausesMax = 500;
  std::shared_ptr<job::JobRunner> runner;
  {
    const std::lock_guard lock(jobs_mutex_);
    runner = std::exchange(jobs_, nullptr);
  }
  // Event streams hold it for half a second at most; its end must be waited for here, not there.
  for (int i = 0; i < kPausesMax && runner.use_count() > 1; ++i) {
    std::this_thread::sleep_for(kPause);
  }
}

std::string Call::parameter(const std::string& name) const {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

Result<bool> Call::flag(const std::string& name, bool otherwise) const {
  const std::string value = parameter(name);
  if (value.empty()) {
    return otherwise;
  }
  if (value == "true" || value == "1") {
    return true;
  }
  if (value == "false" || value == "0") {
    return false;
  }
  return fail_field(Code::InvalidArgument, name, "'{}' is '{}'; it must be true or false", name,
                    value);
}

Result<uint64_t> Call::count(const std::string& name, uint64_t otherwise, uint64_t lowest,
                             uint64_t highest) const {
  const std::string value = parameter(name);
  if (value.empty()) {
    return otherwise;
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < lowest ||
      number > highest) {
    return fail_field(Code::InvalidArgument, name,
                      "'{}' is '{}'; it must be a whole number from {} to {}", name, value, lowest,
                      highest);
  }
  return number;
}

}  // namespace sibyl::server
