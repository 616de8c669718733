#include "train/internal/training_run.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "train/internal/budget.h"
#include "train/internal/encode_all.h"
#include "train/internal/pace.h"

namespace sibyl::train {
namespace {

constexpr double kCheckpointSeconds = 60;
constexpr double kReportSeconds = 1;
/// Steps of a stage whose time is trusted before the budget is looked at.
constexpr size_t kStepsToTrust = 4;

double clock_s() {
  return static_cast<double>(base::system_clock().steady_us()) * 1e-6;
}

AdamWOptions optimizer_options(const TrainPlan& plan) {
  return {.weight_decay = plan.weight_decay,
          .gradient_norm_max = plan.gradient_norm_max,
          .other_rows_rest = plan.static_base};
}

}  // namespace

TrainingRun::TrainingRun(Setup& setup, EventLog& events, std::stop_token stop)
    : setup_(setup),
      events_(events),
      stop_(std::move(stop)),
      checkpoints_(setup.workspace + "/checkpoints", setup.fingerprint) {
  optimizer_.emplace(*setup.network, optimizer_options(setup.plan));
  options_.limits = setup.micro_limits;
  options_.scale = setup.plan.scale;
  options_.symmetric = setup.plan.symmetric;
  options_.mask_margin = setup.plan.mask_margin;
}

double TrainingRun::seconds() const {
  return seconds_before_ + clock_s() - started_s_;
}

Result<void> TrainingRun::run() {
  started_s_ = clock_s();
  saved_s_ = started_s_;
  auto done = begin();
  while (done && progress_.stage < setup_.plan.stages.size()) {
    done = run_stage();
  }
  progress_.seconds = seconds();
  return done;
}

Result<void> TrainingRun::begin() {
  auto loaded = checkpoints_.load_state(*setup_.network, *optimizer_, progress_);
  if (!loaded) {
    return pass_on(loaded);
  }
  seconds_before_ = progress_.seconds;
  options_.cached_gradients = progress_.cached_gradients;
  if (*loaded) {
    return events_.note(fmt::format("going on from the checkpoint at stage {}, step {}",
                                    progress_.stage + 1, progress_.step));
  }
  progress_.cached_gradients = needs_cached_gradients(setup_);
  options_.cached_gradients = progress_.cached_gradients;
  return plan_steps();
}

Result<void> TrainingRun::plan_steps() {
  const double budget_s = setup_.plan.budget_minutes * 60;
  Pace pace;
  if (budget_s > 0 && !setup_.plan.test_mode) {
    pace = measure_pace(setup_, *optimizer_, options_);
  }
  const Cost cost = planned_cost(setup_, pace);
  // Without a pace nothing is known to take any time, and everything fits.
  BudgetPlan plan = plan_budget(cost, pace.train_s > 0 ? budget_s : 0, !setup_.plan.static_base);
  progress_.planned_steps = plan.steps;
  progress_.deadlines_s = plan.deadlines_s;
  progress_.validates = setup_.validation.has_value() && plan.validates;
  progress_.first_validation = progress_.validates && !setup_.plan.static_base &&
                               (plan.first_validation || pace.train_s <= 0);
  if (!plan.shrunk) {
    return {};
  }
  said_shrunk_ = true;
  return events_.note(budget_note(plan, cost, budget_s));
}

tl::unexpected<Error> TrainingRun::interrupted() {
  progress_.seconds = seconds();
  progress_.optimizer_steps = optimizer_->steps();
  auto saved = checkpoints_.save_state(*setup_.network, *optimizer_, progress_);
  if (!saved) {
    return pass_on(saved);
  }
  return fail(Code::Interrupted,
              "interrupted at step {} of stage {}; the state is saved, run again", progress_.step,
              stage_name(stage()));
}

Result<void> TrainingRun::run_stage() {
  auto done = open_stage();
  while (done && (progress_.epoch_open || progress_.step < progress_.schedule.steps)) {
    if (!progress_.epoch_open) {
      progress_.epoch_open = true;
      progress_.best_before_epoch = progress_.best;
    }
    done = run_epoch();
    if (done) {
      done = close_epoch();
    }
    if (setup_.plan.patience > 0 && progress_.stale_epochs >= setup_.plan.patience) {
      break;
    }
  }
  return done ? close_stage() : done;
}

Result<void> TrainingRun::open_stage() {
  if (progress_.first_validation && progress_.epochs.empty()) {
    auto validated = validate(0);
    if (!validated) {
      return validated;
    }
  }
  if (!progress_.stage_open) {
    optimizer_.emplace(*setup_.network, optimizer_options(setup_.plan));
    progress_.schedule =
        Schedule::make(learning_rate_of(setup_.plan, stage()), setup_.plan.warmup_share,
                       setup_.plan.final_share, progress_.planned_steps[progress_.stage]);
    progress_.epoch = progress_.batch = progress_.step = 0;
    progress_.validated_step = -1;
    progress_.stale_epochs = 0;
    progress_.stage_pairs = 0;
    progress_.loss_sum = 0;
    progress_.loss_steps = 0;
    progress_.stage_open = true;
  }
  process_step_seconds_ = 0;
  process_steps_ = process_pairs_ = 0;
  return prepare_guide();
}

Result<void> TrainingRun::prepare_guide() {
  guide_.reset();
  const bool has_start_model = progress_.stage > 0 || !setup_.plan.static_base;
  if (setup_.plan.mask_margin < 0 || !has_start_model) {
    return {};
  }
  Guide guide;
  const auto prepare = [&](const char* side, const TokenTable& texts,
                           at::Tensor& out) -> Result<void> {
    const std::string name = fmt::format("guide-{}-{}", stage_name(stage()), side);
    auto stored = checkpoints_.load_tensor(name);
    if (!stored) {
      return pass_on(stored);
    }
    if (stored->defined() && stored->size(0) == static_cast<int64_t>(texts.size())) {
      out = *stored;
      return {};
    }
    base::check(progress_.step == 0, "the guide is made before the first step");
    const auto encoded = encode_all(*setup_.network, texts, setup_.micro_limits, stop_);
    if (!encoded) {
      return interrupted();
    }
    out = *encoded;
    return checkpoints_.save_tensor(name, out);
  };
  auto done = prepare("questions", items().question_tokens, guide.questions);
  if (done) {
    done = prepare("documents", items().document_tokens, guide.documents);
  }
  if (done) {
    guide_ = std::move(guide);
  }
  return done;
}

Result<void> TrainingRun::run_epoch() {
  const auto batches = make_epoch(items(), setup_.batch_limits,
                                  mix_seed(setup_.plan.seed, progress_.stage), progress_.epoch);
  const size_t every = setup_.plan.validate_every_steps;
  while (progress_.batch < batches.size() && progress_.step < progress_.schedule.steps) {
    const bool due = every > 0 && progress_.step > 0 && progress_.step % every == 0 &&
                     progress_.validated_step != static_cast<int64_t>(progress_.step);
    if (due && progress_.validates) {
      auto validated = validate(progress_.epoch + 1);
      if (!validated) {
        return validated;
      }
    }
    if (stop_.stop_requested()) {
      return interrupted();
    }
    auto done = run_batch(batches[progress_.batch]);
    if (done) {
      done = keep_budget();
    }
    if (done) {
      done = report_progress(false);
    }
    if (done) {
      done = save_when_due();
    }
    if (!done) {
      return done;
    }
  }
  return report_progress(true);
}

Result<void> TrainingRun::run_batch(const Batch& batch) {
  const double before = clock_s();
  const uint64_t seed =
      mix_seed(mix_seed(setup_.plan.seed, 1000 + progress_.stage), progress_.step);
  optimizer_->clear_gradients();
  const auto loss = add_gradients(*setup_.network, items(), batch, guide_ ? &*guide_ : nullptr,
                                  options_, seed, stop_);
  if (!loss) {
    optimizer_->clear_gradients();
    return interrupted();
  }
  optimizer_->step(progress_.schedule.rate(progress_.step));
  setup_.network->end_rows();
  const double took = clock_s() - before;
  ++progress_.step;
  ++progress_.batch;
  progress_.loss_sum += *loss;
  ++progress_.loss_steps;
  progress_.pairs += batch.questions.size();
  progress_.stage_pairs += batch.questions.size();
  progress_.train_seconds += took;
  process_step_seconds_ += took;
  ++process_steps_;
  process_pairs_ += batch.questions.size();
  last_loss_ = *loss;
  return {};
}

Result<void> TrainingRun::close_epoch() {
  if (progress_.validates && progress_.validated_step != static_cast<int64_t>(progress_.step)) {
    auto validated = validate(progress_.epoch + 1);
    if (!validated) {
      return validated;
    }
    progress_.stale_epochs =
        progress_.best > progress_.best_before_epoch ? 0 : progress_.stale_epochs + 1;
  } else if (!progress_.validates) {
    progress_.epochs.push_back(
        {std::string(stage_name(stage())), progress_.epoch + 1,
         progress_.loss_sum / static_cast<double>(std::max<size_t>(progress_.loss_steps, 1)), -1});
  }
  ++progress_.epoch;
  progress_.batch = 0;
  progress_.loss_sum = 0;
  progress_.loss_steps = 0;
  progress_.epoch_open = false;
  return save_when_due();
}

Result<void> TrainingRun::validate(size_t epoch) {
  const double before = clock_s();
  const auto value = setup_.validation->run(*setup_.network, setup_.micro_limits, stop_);
  progress_.validation_seconds += clock_s() - before;
  if (!value) {
    return interrupted();
  }
  progress_.validated_step = static_cast<int64_t>(progress_.step);
  progress_.epochs.push_back(
      {std::string(stage_name(stage())), epoch,
       progress_.loss_sum / static_cast<double>(std::max<size_t>(progress_.loss_steps, 1)),
       *value});
  if (*value > progress_.best) {
    progress_.best = *value;
    progress_.best_record = progress_.epochs.size() - 1;
    auto saved = checkpoints_.save_best(*setup_.network);
    if (!saved) {
      return saved;
    }
  }
  return events_.metric(stage_name(stage()), epoch, *value, progress_.best);
}

Result<void> TrainingRun::close_stage() {
  if (progress_.best >= 0) {
    auto loaded = checkpoints_.load_best(*setup_.network);
    if (!loaded) {
      return loaded;
    }
  }
  ++progress_.stage;
  progress_.stage_open = false;
  return {};
}

Result<void> TrainingRun::keep_budget() {
  const double deadline = progress_.deadlines_s[progress_.stage];
  if (deadline <= 0 || process_steps_ < kStepsToTrust) {
    return {};
  }
  const double step_s = process_step_seconds_ / static_cast<double>(process_steps_);
  const size_t validations = progress_.epochs.size();
  const double validation_s = !progress_.validates || validations == 0
                                  ? 0
                                  : progress_.validation_seconds / static_cast<double>(validations);
  const size_t steps = progress_.schedule.steps;
  const size_t fits =
      steps_in_time(progress_.step, steps, step_s, deadline - seconds() - validation_s);
  // A few per cent are left to chance: shortening at every wobble would end up shorter than needed.
  if (static_cast<double>(fits) >= 0.97 * static_cast<double>(steps)) {
    return {};
  }
  progress_.schedule.shorten(progress_.step, fits);
  if (said_shrunk_) {
    return {};
  }
  said_shrunk_ = true;
  return events_.note(fmt::format(
      "the budget of {:.1f} min holds {} of {} steps at {:.2f} s a step; the others would take "
      "another {:.1f} min",
      setup_.plan.budget_minutes, fits, steps, step_s,
      static_cast<double>(steps - fits) * step_s / 60));
}

Result<void> TrainingRun::report_progress(bool always) {
  const double now = clock_s();
  if (process_steps_ == 0 || (!always && now - reported_s_ < kReportSeconds)) {
    return {};
  }
  reported_s_ = now;
  const double step_s = process_step_seconds_ / static_cast<double>(process_steps_);
  const double pairs_a_step =
      static_cast<double>(progress_.stage_pairs) / static_cast<double>(progress_.step);
  const size_t left = progress_.schedule.steps - std::min(progress_.step, progress_.schedule.steps);
  return events_.progress(
      {.stage = stage_name(stage()),
       .done = progress_.stage_pairs,
       .total = progress_.stage_pairs +
                static_cast<size_t>(pairs_a_step * static_cast<double>(left) + 0.5),
       .rate = static_cast<double>(process_pairs_) / std::max(process_step_seconds_, 1e-9),
       .left_s = static_cast<double>(left) * step_s,
       .loss = last_loss_,
       .epoch = progress_.epoch + 1});
}

Result<void> TrainingRun::save_when_due() {
  if (clock_s() - saved_s_ < kCheckpointSeconds) {
    return {};
  }
  progress_.seconds = seconds();
  progress_.optimizer_steps = optimizer_->steps();
  auto saved = checkpoints_.save_state(*setup_.network, *optimizer_, progress_);
  saved_s_ = clock_s();
  return saved;
}

}  // namespace sibyl::train
