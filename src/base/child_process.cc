#include "base/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/internal/spawn.h"

namespace sibyl::base {
namespace {

using internal::FileDescriptor;
using internal::Spawned;
using internal::system_error;

class RunningChild final : public ChildProcess {
 public:
  explicit RunningChild(Spawned child) : child_(std::move(child)) {}

  ~RunningChild() override {
    if (!exit_status_) {
      signal(SIGKILL);
      wait_exit_status(-1);
    }
  }
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;

  int64_t process_id() const override { return child_.process; }

  void signal(int number) override {
    const std::lock_guard lock(mutex_);
    if (!exit_status_) {  // else the id may already be another's
      ::kill(-child_.process, number);
    }
  }

  std::optional<int> wait_exit_status(int64_t timeout_ms) override {
    {
      const std::lock_guard lock(mutex_);
      if (exit_status_) {
        return exit_status_;
      }
    }
    if (!internal::wait_for_end(child_, timeout_ms)) {
      return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    if (!exit_status_) {
      ::kill(-child_.process, SIGKILL);  // what it started and left behind
      exit_status_ = internal::collect(child_);
    }
    return exit_status_;
  }

 private:
  const Spawned child_;
  std::mutex mutex_;
  std::optional<int> exit_status_;
};

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const ChildOptions& options,
                                                          const std::string& log_path) {
  FileDescriptor log;
  if (!log_path.empty()) {
    log.reset(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (log.get() < 0) {
      return system_error("cannot open", log_path, errno);
    }
  }
  const int output = log.get() >= 0 ? log.get() : STDOUT_FILENO;
  const int errors = log.get() >= 0 ? log.get() : STDERR_FILENO;
  auto child = internal::spawn(options, output, errors);
  if (!child) {
    return pass_on(child);
  }
  return std::make_unique<RunningChild>(std::move(*child));
}

std::string own_program_path() {
  std::array<char, 4096> buffer;
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  return length > 0 ? std::string(buffer.data(), static_cast<size_t>(length)) : std::string();
}

}  // namespace sibyl::base
