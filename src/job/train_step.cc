#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/child_process.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "job/internal/event_tail.h"
#include "job/internal/steps.h"

namespace sibyl::job::internal {
namespace {

constexpr const char* kProgram = "sibyl-trainer";
// A checkpoint is promised within 10 seconds; a trainer that takes longer than this is ended.
constexpr int64_t kStopPatienceUs = 30'000'000;
constexpr int64_t kPollMs = 200;

std::string trainer_program(const StepContext& context) {
  if (!context.trainer_program.empty()) {
    return context.trainer_program;
  }
  const std::string own = base::own_program_path();
  const size_t slash = own.rfind('/');
  if (slash != std::string::npos) {
    const std::string beside = own.substr(0, slash + 1) + kProgram;
    if (base::real_file_system().exists(beside)) {
      return beside;
    }
  }
  return kProgram;
}

// What the trainer's libraries read when they are loaded. Freed memory is kept: without that every
// step gives its tensors back to the system and faults them in again.
base::ChildOptions trainer_options(const Workspace& workspace, const StepContext& context) {
  base::ChildOptions options;
  options.arguments = {trainer_program(context), "--workspace", workspace.path()};
  int64_t threads = 0;
  if (const auto job = workspace.job(); job && job->contains("train")) {
    const base::Json& train = (*job)["train"];
    if (train.is_object() && train.contains("threads") && train["threads"].is_number_integer()) {
      threads = train["threads"].get<int64_t>();
    }
  }
  const std::string count =
      std::to_string(threads > 0 ? threads : static_cast<int64_t>(base::usable_cores()));
  options.environment = {{"OMP_NUM_THREADS", count},
                         {"MKL_NUM_THREADS", count},
                         {"OMP_WAIT_POLICY", "passive"},
                         {"MALLOC_MMAP_THRESHOLD_", "4294967296"},
                         {"MALLOC_TRIM_THRESHOLD_", "4294967296"}};
  return options;
}

Code code_of_exit(int status) {
  switch (status) {
    case 64:
      return Code::InvalidArgument;
    case 65:
      return Code::InvalidData;
    case 66:
      return Code::NotFound;
    case 69:
      return Code::Unavailable;
    case 73:
      return Code::CannotCreate;
    case 74:
      return Code::IoError;
    case 75:
      return Code::Interrupted;
    case 78:
      return Code::InvalidConfig;
    default:
      return Code::Internal;
  }
}

// The trainer's log, passed on to our own as it grows; keeps the last error that it holds.
class LogCopy {
 public:
  explicit LogCopy(const std::string& path) : path_(path) {
    const auto status = base::real_file_system().status(path);
    offset_ = status ? status->bytes : 0;  // an earlier run's lines were passed on then
  }
  void copy() {
    for (;;) {
      const auto lines = lines_from(path_, offset_, kLogBytesAtOnce);
      if (!lines || lines->empty()) {
        return;
      }
      for (const std::string& line : *lines) {
        fmt::print(stderr, "{}\n", line);
        const size_t mark = line.find(kErrorMark);
        if (mark != std::string::npos) {
          last_error_ = line.substr(mark + kErrorMark.size());
        }
      }
    }
  }
  const std::string& last_error() const { return last_error_; }

 private:
  static constexpr std::string_view kErrorMark = " error train: ";
  static constexpr uint64_t kLogBytesAtOnce = uint64_t{1} << 20;

  const std::string path_;
  uint64_t offset_ = 0;
  std::string last_error_;
};

class TrainStep final : public Step {
 public:
  std::string_view name() const override { return "train"; }

  Result<void> run(Workspace& workspace, const StepContext& context) override {
    if (!workspace.done("prepare")) {
      return fail(Code::FailedPrecondition, "{}: the step prepare has not run", workspace.path());
    }
    const std::string log_path = workspace.file("report/train.log");
    LogCopy log(log_path);
    auto child = base::ChildProcess::start(trainer_options(workspace, context), log_path);
    if (!child) {
      if (child.error().code != Code::NotFound) {
        return pass_on(child);
      }
      return fail(Code::Unavailable,
                  "training needs the program sibyl-trainer, which is neither beside sibyl nor in "
                  "PATH; build it, or install it where sibyl lies");
    }
    const int status = wait(**child, context.stop, log);
    if (status == 0) {
      return {};
    }
    if (context.stop.stop_requested()) {
      return fail(Code::Interrupted,
                  "training was stopped; run the step again to go on from the "
                  "last checkpoint");
    }
    if (!log.last_error().empty()) {
      return fail(code_of_exit(status), "{}", log.last_error());
    }
    return fail(code_of_exit(status), "sibyl-trainer ended with {}{}", status,
                status > 128 ? fmt::format(" (signal {})", status - 128) : "");
  }

 private:
  static int wait(base::ChildProcess& child, const std::stop_token& stop, LogCopy& log) {
    std::optional<int64_t> asked_us;
    for (;;) {
      const auto status = child.wait_exit_status(kPollMs);
      log.copy();
      if (status) {
        return *status;
      }
      const int64_t now_us = base::system_clock().steady_us();
      if (stop.stop_requested() && !asked_us) {
        asked_us = now_us;
        child.signal(SIGTERM);
      }
      if (asked_us && now_us - *asked_us > kStopPatienceUs) {
        child.signal(SIGKILL);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Step> make_train_step() {
  return std::make_unique<TrainStep>();
}

}  // namespace sibyl::job::internal
