#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sibyl::train {

/// What a run would cost at the pace measured on this machine.
struct Cost {
  struct StageCost {
    size_t steps = 0;
    size_t epochs = 0;
    double seconds = 0;  ///< of training steps
  };
  std::vector<StageCost> stages;
  double validation_seconds = 0;  ///< of one validation; 0: there is none
  double fixed_seconds = 0;       ///< guide, writing of the model
};

/// What fits into the time given.
struct BudgetPlan {
  std::vector<size_t> steps;        ///< by stage
  std::vector<double> deadlines_s;  ///< by stage, from the start; 0: none
  bool first_validation = true;     ///< of the untrained model
  bool validates = true;
  bool shrunk = false;
  double full_seconds = 0;  ///< of everything that was planned
};

/// `budget_seconds` 0: no limit. Every stage keeps the same share of its steps. A validation that
/// would eat more than a quarter of the budget is left out, the one of the untrained model already
/// above a tenth.
BudgetPlan plan_budget(const Cost& cost, double budget_seconds, bool first_validation);

/// For people: what the budget holds and what all of it would cost.
std::string budget_note(const BudgetPlan& plan, const Cost& cost, double budget_seconds);

/// Steps that end in time: `step` are done, one takes `step_seconds`, `left_s` seconds remain.
size_t steps_in_time(size_t step, size_t steps, double step_seconds, double left_s);

}  // namespace sibyl::train
