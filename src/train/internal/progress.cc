#include "train/internal/progress.h"

#include "base/json.h"

namespace sibyl::train {
namespace {

using base::Json;

/// Calls `visit(name, member)` for every plain member: one list for both directions.
template <class P, class Visit>
void visit_members(P& progress, Visit visit) {
  visit("stage", progress.stage);
  visit("stage_open", progress.stage_open);
  visit("epoch", progress.epoch);
  visit("batch", progress.batch);
  visit("step", progress.step);
  visit("optimizer_steps", progress.optimizer_steps);
  visit("peak", progress.schedule.peak);
  visit("final_share", progress.schedule.final_share);
  visit("warmup_steps", progress.schedule.warmup_steps);
  visit("steps", progress.schedule.steps);
  visit("decay_from", progress.schedule.decay_from);
  visit("decay_from_rate", progress.schedule.decay_from_rate);
  visit("validated_step", progress.validated_step);
  visit("stale_epochs", progress.stale_epochs);
  visit("cached_gradients", progress.cached_gradients);
  visit("validates", progress.validates);
  visit("first_validation", progress.first_validation);
  visit("epoch_open", progress.epoch_open);
  visit("planned_steps", progress.planned_steps);
  visit("deadlines_s", progress.deadlines_s);
  visit("loss_sum", progress.loss_sum);
  visit("loss_steps", progress.loss_steps);
  visit("best", progress.best);
  visit("best_before_epoch", progress.best_before_epoch);
  visit("best_record", progress.best_record);
  visit("seconds", progress.seconds);
  visit("train_seconds", progress.train_seconds);
  visit("validation_seconds", progress.validation_seconds);
  visit("pairs", progress.pairs);
  visit("stage_pairs", progress.stage_pairs);
}

}  // namespace

std::string progress_to_json(const Progress& progress) {
  Json out = Json::object();
  visit_members(progress, [&](const char* name, const auto& member) { out[name] = member; });
  out["epochs"] = Json::array();
  for (const EpochRecord& record : progress.epochs) {
    out["epochs"].push_back({{"stage", record.stage},
                             {"epoch", record.epoch},
                             {"loss", record.loss},
                             {"ndcg_at_10", record.ndcg_at_10}});
  }
  return base::dump_json(out);
}

Result<Progress> progress_from_json(std::string_view json) {
  auto value = base::parse_json(json, "checkpoint state");
  if (!value) {
    return pass_on(value);
  }
  Progress progress;
  try {
    visit_members(progress, [&](const char* name, auto& member) {
      member = value->at(name).template get<std::decay_t<decltype(member)>>();
    });
    for (const Json& record : value->at("epochs")) {
      progress.epochs.push_back({record.at("stage").get<std::string>(),
                                 record.at("epoch").get<size_t>(), record.at("loss").get<double>(),
                                 record.at("ndcg_at_10").get<double>()});
    }
  } catch (const Json::exception& error) {
    return fail(Code::InvalidData, "checkpoint state: {}", error.what());
  }
  return progress;
}

}  // namespace sibyl::train
