#include "job/internal/progress.h"

#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

namespace sibyl::job::internal {
namespace {

constexpr int64_t kBetweenUs = 500'000;

}  // namespace

ProgressEvents::ProgressEvents(Workspace& workspace, std::string_view step, std::string stage,
                               std::string unit)
    : workspace_(workspace),
      step_(step),
      stage_(std::move(stage)),
      unit_(std::move(unit)),
      start_us_(base::system_clock().steady_us()) {}

void ProgressEvents::report(uint64_t done, uint64_t total) {
  const int64_t now_us = base::system_clock().steady_us();
  if (done < total && now_us - last_us_ < kBetweenUs) {
    return;
  }
  last_us_ = now_us;
  const double seconds = static_cast<double>(now_us - start_us_) / 1e6;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const double left_s = rate > 0 && total > done ? static_cast<double>(total - done) / rate : 0;
  const auto written = workspace_.append_event(step_, {{"event", "progress"},
                                                       {"stage", stage_},
                                                       {"done", done},
                                                       {"total", total},
                                                       {"unit", unit_},
                                                       {"rate", rate},
                                                       {"left_s", left_s}});
  if (!written) {
    base::log_warning("job", "progress is not recorded: {}", written.error().message);
  }
}

}  // namespace sibyl::job::internal
