#include "job/step.h"

#include <atomic>
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
// Of a step that was told to stop: its state is promised within 10 seconds, and pods of machines
// that go away get 15.
constexpr int64_t kSaveAfterStopUs = 10'000'000;

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

/// When a stop was requested, in steady time; 0 before.
class StopTime {
 public:
  explicit StopTime(const std::stop_token& stop)
      : noted_(stop, [this] { at_us_.store(base::system_clock().steady_us()); }) {}
  int64_t deadline_us() const {
    const int64_t at_us = at_us_.load();
    return at_us == 0 ? 0 : at_us + kSaveAfterStopUs;
  }

 private:
  std::atomic<int64_t> at_us_{0};
  std::stop_callback<std::function<void()>> noted_;
};

Result<void> run_and_save(Step& step, Workspace& workspace, const StepContext& context,
                          const StopTime& stopped) {
  Result<void> result;
  {
    const ProgressSaver saver(workspace, context.stop);
    result = step.run(workspace, context);
  }
  if (result) {
    result = workspace.save(step.name(), stopped.deadline_us());
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
  const StopTime stopped(context.stop);
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
  const auto result = run_and_save(*step, workspace, context, stopped);
  base::Json end = {
      {"event", "end"},
      {"status", result ? 0 : exit_status(result.error().code)},
      {"seconds", static_cast<double>(base::system_clock().steady_us() - start_us) / 1e6}};
  if (!result) {
    end["error"] = result.error().message;
  }
  auto ended = workspace.append_event(name, std::move(end));
  if (ended) {
    ended = workspace.save(name, stopped.deadline_us());
  }
  if (!ended && !result) {
    base::log_warning("job", "the state of step {} is not saved: {}", name, ended.error().message);
  }
  return result ? ended : result;
}

}  // namespace sibyl::job
