#include "train/internal/budget.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sibyl::train {
namespace {

constexpr double kValidationShareMax = 0.25;
constexpr double kFirstValidationShareMax = 0.10;

double training_seconds(const Cost& cost) {
  double sum = 0;
  for (const Cost::StageCost& stage : cost.stages) {
    sum += stage.seconds;
  }
  return sum;
}

/// Validations when every stage keeps `share` of its steps.
double validations_at(const Cost& cost, double share) {
  double count = 0;
  for (const Cost::StageCost& stage : cost.stages) {
    count += std::max(1.0, std::ceil(share * static_cast<double>(stage.epochs) - 1e-9));
  }
  return count;
}

/// The largest share of the training whose steps and validations fit into `seconds`. Validations
/// count in whole numbers, so the share is found by halving.
double fitting_share(const Cost& cost, double validation_seconds, double seconds) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 40; ++i) {
    const double share = (low + high) / 2;
    const double needed =
        share * training_seconds(cost) + validations_at(cost, share) * validation_seconds;
    (needed <= seconds ? low : high) = share;
  }
  return low;
}

std::string duration(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.1f} min", seconds / 60);
}

}  // namespace

BudgetPlan plan_budget(const Cost& cost, double budget_seconds, bool first_validation) {
  BudgetPlan plan;
  plan.first_validation = first_validation && cost.validation_seconds > 0;
  const double first = plan.first_validation ? cost.validation_seconds : 0;
  plan.full_seconds = training_seconds(cost) + cost.fixed_seconds + first +
                      validations_at(cost, 1) * cost.validation_seconds;
  plan.deadlines_s.assign(cost.stages.size(), 0);
  for (const Cost::StageCost& stage : cost.stages) {
    plan.steps.push_back(stage.steps);
  }
  if (budget_seconds <= 0) {
    return plan;
  }
  double share = 1;
  double spent = cost.fixed_seconds;
  double each = cost.validation_seconds;
  if (plan.full_seconds > budget_seconds) {
    plan.shrunk = true;
    plan.validates = each <= kValidationShareMax * budget_seconds;
    plan.first_validation =
        plan.first_validation && each <= kFirstValidationShareMax * budget_seconds;
    each = plan.validates ? each : 0;
    spent += plan.first_validation ? each : 0;
    share = fitting_share(cost, each, budget_seconds - spent);
  }
  double end = budget_seconds;
  for (size_t i = cost.stages.size(); i-- > 0;) {
    const Cost::StageCost& stage = cost.stages[i];
    plan.steps[i] = std::max<size_t>(
        1, static_cast<size_t>(std::floor(share * static_cast<double>(stage.steps) + 1e-6)));
    plan.deadlines_s[i] = end - (i + 1 == cost.stages.size() ? cost.fixed_seconds : 0);
    end = plan.deadlines_s[i] - share * stage.seconds -
          std::max(1.0, std::ceil(share * static_cast<double>(stage.epochs))) * each;
  }
  return plan;
}

std::string budget_note(const BudgetPlan& plan, const Cost& cost, double budget_seconds) {
  size_t planned = 0;
  size_t kept = 0;
  for (size_t i = 0; i < cost.stages.size(); ++i) {
    planned += cost.stages[i].steps;
    kept += plan.steps[i];
  }
  return fmt::format(
      "the budget of {} holds {} of {} steps ({:.0f} %){}; all of them would take about {}",
      duration(budget_seconds), kept, planned,
      100.0 * static_cast<double>(kept) / static_cast<double>(std::max<size_t>(planned, 1)),
      plan.validates ? "" : " and no validation, which alone would take over a quarter of it",
      duration(plan.full_seconds));
}

size_t steps_in_time(size_t step, size_t steps, double step_seconds, double left_s) {
  if (step_seconds <= 0) {
    return steps;
  }
  const double fits = std::max(0.0, std::floor(left_s / step_seconds));
  const double total = static_cast<double>(step) + fits;
  return total >= static_cast<double>(steps) ? steps
                                             : std::max(step + 1, static_cast<size_t>(total));
}

}  // namespace sibyl::train
