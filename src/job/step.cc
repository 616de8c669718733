#include "job/step.h"

#include "base/clock.h"
#include "base/json.h"
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
  return nullptr;
}

std::vector<std::string> steps_of(std::string_view kind) {
  if (kind == "evaluate") {
    return {"prepare", "evaluate"};
  }
  return {"prepare", "train", "evaluate", "publish"};
}

Result<void> run_step(std::string_view name, Workspace& workspace, const StepContext& context) {
  const std::unique_ptr<Step> step = make_step(name);
  if (step == nullptr) {
    return fail(Code::InvalidArgument,
                "there is no step '{}'; steps are prepare, train, evaluate, publish", name);
  }
  if (workspace.done(name)) {
    return {};
  }
  const int64_t start_us = base::system_clock().steady_us();
  if (auto started = workspace.append_event(name, {{"event", "start"}}); !started) {
    return started;
  }
  auto result = step->run(workspace, context);
  if (result) {
    result = workspace.mark_done(name);
  }
  base::Json end = {
      {"event", "end"},
      {"status", result ? 0 : exit_status(result.error().code)},
      {"seconds", static_cast<double>(base::system_clock().steady_us() - start_us) / 1e6}};
  if (!result) {
    end["error"] = result.error().message;
  }
  const auto ended = workspace.append_event(name, std::move(end));
  return result ? ended : result;
}

}  // namespace sibyl::job
