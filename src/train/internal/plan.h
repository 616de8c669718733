#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sibyl::train {

enum class Stage { Cold, Labels };
std::string_view stage_name(Stage stage);

/// `job.json` of a workspace, as far as training reads it (docs/formats/workspace.md). Every number
/// was chosen by `prepare`; a missing one is refused, so that no value is decided in two places.
struct TrainPlan {
  std::string kind;
  std::string name;
  std::string base_name;
  bool static_base = false;
  std::string device;
  bool allow_cpu_fallback = false;
  bool test_mode = false;

  std::vector<Stage> stages;
  size_t epochs = 0;
  size_t cold_epochs = 0;
  double learning_rate = 0;
  double cold_learning_rate = 0;
  double warmup_share = 0;
  double final_share = 0;
  double weight_decay = 0;
  double gradient_norm_max = 0;
  size_t batch_passages = 0;
  size_t batch_questions_max = 0;
  size_t micro_batch_tokens = 0;
  size_t question_tokens_max = 0;
  size_t passage_tokens_max = 0;
  size_t index_tokens_max = 0;
  double scale = 0;
  bool symmetric = false;
  double mask_margin = 0;
  double dropout = 0;
  size_t dimension = 0;
  size_t patience = 0;
  size_t validate_every_steps = 0;
  double budget_minutes = 0;
  uint64_t seed = 0;
  size_t threads = 0;

  std::string parameters_json;  ///< `train` as it stands, for the model's sibyl.json
};

/// From the text of job.json; InvalidConfig names the field, its value and what would be right.
Result<TrainPlan> parse_plan(std::string_view json);

size_t epochs_of(const TrainPlan& plan, Stage stage);
double learning_rate_of(const TrainPlan& plan, Stage stage);

}  // namespace sibyl::train
