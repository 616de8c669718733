#include "train/trainer.h"

#include <new>

#include <c10/util/Exception.h>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "train/internal/device.h"
#include "train/internal/environment.h"
#include "train/internal/export_model.h"
#include "train/internal/setup.h"
#include "train/internal/training_run.h"

namespace sibyl::train {
namespace {

using base::Json;

constexpr const char* kReport = "report/train.json";

/// Whether a report of this very job stands beside its model: then there is nothing to do.
bool finished_before(const Setup& setup) {
  auto text = base::read_file(base::join_path(setup.workspace, kReport));
  if (!text) {
    return false;
  }
  const auto report = base::parse_json(*text, kReport);
  return report && report->is_object() && report->value("fingerprint", "") == setup.fingerprint &&
         base::real_file_system().exists(base::join_path(setup.workspace, "model/modules.json"));
}

Json epochs_json(const Progress& progress) {
  Json out = Json::array();
  for (const EpochRecord& record : progress.epochs) {
    out.push_back({{"stage", record.stage},
                   {"epoch", record.epoch},
                   {"loss", record.loss},
                   {"ndcg_at_10", record.ndcg_at_10 < 0 ? Json() : Json(record.ndcg_at_10)}});
  }
  return out;
}

Json report_json(const Setup& setup, const Progress& progress) {
  const bool validated = progress.best >= 0;
  const EpochRecord* best = validated ? &progress.epochs[progress.best_record] : nullptr;
  return {{"epochs", epochs_json(progress)},
          {"best_stage", best == nullptr ? Json() : Json(best->stage)},
          {"best_epoch", best == nullptr ? Json() : Json(best->epoch)},
          {"best_ndcg_at_10", validated ? Json(progress.best) : Json()},
          {"pairs", progress.pairs},
          {"pairs_per_second", progress.train_seconds > 0
                                   ? static_cast<double>(progress.pairs) / progress.train_seconds
                                   : 0.0},
          {"seconds", progress.seconds},
          {"train_seconds", progress.train_seconds},
          {"validation_seconds", progress.validation_seconds},
          {"cached_gradients", progress.cached_gradients},
          {"device", setup.device_text},
          {"fingerprint", setup.fingerprint}};
}

model::Provenance provenance_of(const Setup& setup, const Progress& progress) {
  model::Provenance out;
  out.name = setup.plan.name;
  out.base = setup.plan.base_name;
  out.created = base::format_time(base::system_clock().now_us());
  out.trained_on = base::dump_json(Json{{"passages", setup.data.passages.size()},
                                        {"pairs", setup.data.pairs.size()},
                                        {"cold_pairs", setup.data.cold.size()},
                                        {"validation_questions", setup.data.valid.size()},
                                        {"fingerprint", setup.fingerprint}});
  out.parameters = setup.plan.parameters_json;
  out.metrics = progress.best < 0
                    ? "null"
                    : base::dump_json(Json{{"validation", {{"ndcg_at_10", progress.best}}}});
  out.dimension = setup.network->dimension();
  return out;
}

Result<void> write_outputs(Setup& setup, TrainingRun& run) {
  auto written = export_model(base::join_path(setup.workspace, "model"), *setup.network, setup.plan,
                              {.base = setup.base.get(),
                               .base_folder = setup.base ? setup.base->path : std::string(),
                               .tokenizer_path = setup.tokenizer_path},
                              provenance_of(setup, run.progress()));
  if (!written) {
    return written;
  }
  auto made =
      base::real_file_system().create_directories(base::join_path(setup.workspace, "report"));
  if (made) {
    made = base::replace_file(base::join_path(setup.workspace, kReport),
                              base::dump_json(report_json(setup, run.progress()), 2) + "\n");
  }
  return made ? run.remove_checkpoints() : made;
}

Result<void> train(const std::string& workspace, const std::stop_token& stop) {
  EventLog events(base::join_path(workspace, "events.jsonl"));
  auto setup = open_setup(workspace, events);
  if (!setup) {
    return pass_on(setup);
  }
  if (finished_before(**setup)) {
    return events.note("this job was trained before; its model is there");
  }
  auto made =
      base::real_file_system().create_directories(base::join_path(workspace, "checkpoints"));
  if (!made) {
    return made;
  }
  TrainingRun run(**setup, events, stop);
  auto done = run.run();
  return done ? write_outputs(**setup, run) : done;
}

}  // namespace

Result<void> run_training(const std::string& workspace, std::stop_token stop) {
  if (!base::real_file_system().exists(base::join_path(workspace, "job.json"))) {
    return fail(Code::NotFound, "{} has no job.json; run the step prepare first", workspace);
  }
  try {
    return train(workspace, stop);
  } catch (const std::bad_alloc&) {
    return fail(Code::ResourceExhausted,
                "out of memory; choose smaller train.micro_batch_tokens or train.batch_passages");
  } catch (const c10::Error& error) {
    return fail(Code::Internal, "LibTorch: {}", error.what_without_backtrace());
  } catch (const std::exception& error) {
    return fail(Code::Internal, "training: {}", error.what());
  }
}

void open_device_libraries() {
  set_process_defaults();
  open_gpu_library();
}

std::string version_text() {
  return fmt::format("{} ({})", SIBYL_VERSION, torch_text());
}

}  // namespace sibyl::train
