#include "job/step.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/stop.h"
#include "job/internal/steps.h"

namespace sibyl::job {

std::unique_ptr<Step> make_step(std::string_view name) {
  if (name == "prepare") {
    return internal::make_prepare_step();
  }
  if (name == "train") {
    return internal::make_train_step();
  }
  if (name == "evaluate") {
    return internal::make_evaluate_step();
  }
  if (name == "publish") {
    return internal::make_publish_step();
  }
  if (name == "deploy") {
    return internal::make_deploy_step();
  }
  return nullptr;
}

std::vector<std::string> steps_of(std::string_view kind) {
  if (kind == "evaluate") {
    return {"prepare", "evaluate"};
  }
  return {"prepare", "train", "evaluate", "publish"};
}

namespace {

constexpr double kSaveEverySeconds = 5;
// Of the time behind a stop; the rest is for the event that tells of the end.
constexpr double kFilesShare = 0.8;

/// Saves checkpoints and events of a workspace in a store while the step runs, so that a machine
/// that vanishes costs no more than the work since the last one.
class ProgressSaver {
 public:
  ProgressSaver(Workspace& workspace, const std::stop_token& stop)
      : stop_step_(stop, [this] { stop_.request_stop(); }) {
    if (workspace.is_remote()) {
      thread_ = std::thread([this, &workspace] {
        while (!base::sleep_until_stop(stop_.get_token(), kSaveEverySeconds)) {
          const auto saved = workspace.save_progress(stop_.get_token());
          if (!saved && saved.error().code != Code::Interrupted) {
            base::log_warning("job", "progress is not saved yet: {}", saved.error().message);
          }
        }
      });
    }
  }
  ~ProgressSaver() {
    stop_.request_stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  ProgressSaver(const ProgressSaver&) = delete;
  ProgressSaver& operator=(const ProgressSaver&) = delete;

 private:
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> stop_step_;
  std::thread thread_;
};

/// Requests a stop some seconds after another token did: what a step that was told to stop has for
/// its files.
class LateStop {
 public:
  LateStop(const std::stop_token& first, double seconds)
      : first_(first, [this] { wake(); }),
        waiter_([this, seconds](const std::stop_token& end) { wait(end, seconds); }) {}
  std::stop_token token() const { return late_.get_token(); }

 private:
  void wake() {
    const std::lock_guard lock(mutex_);
    requested_ = true;
    changed_.notify_all();
  }
  void wait(const std::stop_token& end, double seconds) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, end, [this] { return requested_; })) {
        return;
      }
    }
    if (!base::sleep_until_stop(end, seconds)) {
      late_.request_stop();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool requested_ = false;
  std::stop_source late_;
  std::stop_callback<std::function<void()>> first_;
  std::jthread waiter_;
};

// What fails behind a stop is no fault of the job: another attempt goes on from what was saved.
Result<void> save(Workspace& workspace, std::string_view step, const StepContext& context,
                  const LateStop& end) {
  auto saved = workspace.save(step, end.token());
  if (!saved && context.stop.stop_requested()) {
    return fail(Code::Interrupted, "stopped before all files were in the store: {}",
                saved.error().message);
  }
  return saved;
}

Result<void> run_and_save(Step& step, Workspace& workspace, const StepContext& context,
                          const LateStop& files_end) {
  Result<void> result;
  {
    const ProgressSaver saver(workspace, context.stop);
    result = step.run(workspace, context);
  }
  if (result) {
    result = save(workspace, step.name(), context, files_end);
  }
  return result ? workspace.mark_done(step.name()) : result;
}

}  // namespace

Result<void> run_step(std::string_view name, Workspace& workspace, const StepContext& context) {
  const std::unique_ptr<Step> step = make_step(name);
  if (step == nullptr) {
    return fail(Code::InvalidArgument,
                "there is no step '{}'; steps are prepare, train, evaluate, publish, deploy", name);
  }
  const LateStop files_end(context.stop, kFilesShare * context.save_seconds);
  const LateStop end_of_all(context.stop, context.save_seconds);
  if (auto fetched = workspace.fetch(name, context.stop); !fetched) {
    return fetched;
  }
  if (workspace.done(name)) {
    return {};
  }
  const int64_t start_us = base::system_clock().steady_us();
  if (auto started = workspace.append_event(name, {{"event", "start"}}); !started) {
    return started;
  }
  const auto result = run_and_save(*step, workspace, context, files_end);
  base::Json end = {
      {"event", "end"},
      {"status", result ? 0 : exit_status(result.error().code)},
      {"seconds", static_cast<double>(base::system_clock().steady_us() - start_us) / 1e6}};
  if (!result) {
    end["error"] = result.error().message;
  }
  auto ended = workspace.append_event(name, std::move(end));
  if (ended) {
    ended = save(workspace, name, context, end_of_all);
  }
  if (!ended && !result) {
    base::log_warning("job", "the state of step {} is not saved: {}", name, ended.error().message);
  }
  return result ? ended : result;
}

}  // namespace sibyl::job
