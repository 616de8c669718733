#include "train/internal/plan.h"

#include <array>
#include <string_view>

#include "base/json.h"

namespace sibyl::train {
namespace {

using base::Json;
using base::JsonFields;

constexpr int64_t kFormat = 1;

constexpr std::array<std::string_view, 25> kParameters = {"stages",
                                                          "epochs",
                                                          "cold_epochs",
                                                          "learning_rate",
                                                          "cold_learning_rate",
                                                          "warmup_share",
                                                          "final_share",
                                                          "weight_decay",
                                                          "gradient_norm_max",
                                                          "batch_passages",
                                                          "batch_questions_max",
                                                          "micro_batch_tokens",
                                                          "question_tokens_max",
                                                          "passage_tokens_max",
                                                          "index_tokens_max",
                                                          "scale",
                                                          "symmetric",
                                                          "mask_margin",
                                                          "dropout",
                                                          "dimension",
                                                          "patience",
                                                          "validate_every_steps",
                                                          "budget_minutes",
                                                          "seed",
                                                          "threads"};

Result<std::vector<Stage>> parse_stages(const std::string& text) {
  if (text == "labels") {
    return std::vector<Stage>{Stage::Labels};
  }
  if (text == "cold") {
    return std::vector<Stage>{Stage::Cold};
  }
  if (text == "cold,labels") {
    return std::vector<Stage>{Stage::Cold, Stage::Labels};
  }
  return fail_field(Code::InvalidConfig, "train.stages",
                    "train.stages is '{}'; it must be labels, cold or cold,labels", text);
}

Result<void> check_all_present(const Json& train) {
  for (std::string_view name : kParameters) {
    if (!train.contains(name)) {
      return fail_field(Code::InvalidConfig, fmt::format("train.{}", name),
                        "train.{} is missing in job.json; run the step prepare again", name);
    }
  }
  return {};
}

/// The first wrong value. Keys of other steps may stand beside ours and are not refused here:
/// `prepare` checked the job file.
Result<void> finish_known(JsonFields& fields, const Json& object) {
  for (const auto& [key, value] : object.items()) {
    fields.value(key);
  }
  return fields.finish();
}

size_t count(JsonFields& fields, std::string_view key, int64_t lowest, int64_t highest) {
  return static_cast<size_t>(fields.integer(key, lowest, lowest, highest));
}

void read_numbers(JsonFields& fields, TrainPlan& plan) {
  plan.epochs = count(fields, "epochs", 0, 10000);
  plan.cold_epochs = count(fields, "cold_epochs", 0, 10000);
  plan.learning_rate = fields.number("learning_rate", 0, 0, 10);
  plan.cold_learning_rate = fields.number("cold_learning_rate", 0, 0, 10);
  plan.warmup_share = fields.number("warmup_share", 0, 0, 1);
  plan.final_share = fields.number("final_share", 0, 0, 1);
  plan.weight_decay = fields.number("weight_decay", 0, 0, 10);
  plan.gradient_norm_max = fields.number("gradient_norm_max", 0, 0, 1e6);
  plan.batch_passages = count(fields, "batch_passages", 2, 65536);
  plan.batch_questions_max = count(fields, "batch_questions_max", 2, 262144);
  plan.micro_batch_tokens = count(fields, "micro_batch_tokens", 16, int64_t{1} << 24);
  plan.question_tokens_max = count(fields, "question_tokens_max", 3, 1 << 20);
  plan.passage_tokens_max = count(fields, "passage_tokens_max", 3, 1 << 20);
  plan.index_tokens_max = count(fields, "index_tokens_max", 0, 1 << 20);
  plan.scale = fields.number("scale", 0, 0.01, 1000);
  plan.symmetric = fields.boolean("symmetric", false);
  plan.mask_margin = fields.number("mask_margin", 0, -1, 2);
  plan.dropout = fields.number("dropout", 0, 0, 0.9);
  plan.dimension = count(fields, "dimension", 0, 8192);
  plan.patience = count(fields, "patience", 0, 10000);
  plan.validate_every_steps = count(fields, "validate_every_steps", 0, int64_t{1} << 40);
  plan.budget_minutes = fields.number("budget_minutes", 0, 0, 1e6);
  plan.seed = static_cast<uint64_t>(fields.integer("seed", 0, 0, int64_t{1} << 53));
  plan.threads = count(fields, "threads", 0, 4096);
}

}  // namespace

std::string_view stage_name(Stage stage) {
  return stage == Stage::Cold ? "cold" : "labels";
}

size_t epochs_of(const TrainPlan& plan, Stage stage) {
  return stage == Stage::Cold ? plan.cold_epochs : plan.epochs;
}

double learning_rate_of(const TrainPlan& plan, Stage stage) {
  return stage == Stage::Cold ? plan.cold_learning_rate : plan.learning_rate;
}

Result<TrainPlan> parse_plan(std::string_view json) {
  auto document = base::parse_json(json, "job.json");
  if (!document) {
    return pass_on(document);
  }
  if (!document->is_object()) {
    return fail(Code::InvalidConfig, "job.json must hold one JSON object");
  }
  TrainPlan plan;
  JsonFields top(*document, {}, Code::InvalidConfig);
  const int64_t format = top.integer("format", 0, 0, int64_t{1} << 30);
  plan.kind = top.required_text("kind");
  plan.name = top.required_text("name");
  plan.device = top.text("device", "auto");
  plan.allow_cpu_fallback = top.boolean("allow_cpu_fallback", false);
  plan.test_mode = top.boolean("test_mode", false);
  const Json* base_object = top.object("base");
  const Json* train = top.object("train");
  if (base_object == nullptr || train == nullptr) {
    return fail(Code::InvalidConfig, "job.json lacks '{}'; run the step prepare again",
                base_object == nullptr ? "base" : "train");
  }
  if (format != kFormat) {
    return fail_field(Code::InvalidConfig, "format",
                      "job.json has format {}; this trainer reads format {}", format, kFormat);
  }
  JsonFields base_fields(*base_object, "base", Code::InvalidConfig);
  plan.base_name = base_fields.text("name");
  const std::string kind = base_fields.required_text("kind");
  if (kind != "transformer" && kind != "static") {
    return fail_field(Code::InvalidConfig, "base.kind",
                      "base.kind is '{}'; it must be transformer or static", kind);
  }
  plan.static_base = kind == "static";
  auto present = check_all_present(*train);
  if (!present) {
    return pass_on(present);
  }
  JsonFields fields(*train, "train", Code::InvalidConfig);
  auto stages = parse_stages(fields.text("stages"));
  if (!stages) {
    return pass_on(stages);
  }
  plan.stages = std::move(*stages);
  read_numbers(fields, plan);
  for (Result<void> checked :
       {finish_known(fields, *train), finish_known(base_fields, *base_object),
        finish_known(top, *document)}) {
    if (!checked) {
      return pass_on(checked);
    }
  }
  plan.parameters_json = base::dump_json(*train);
  return plan;
}

}  // namespace sibyl::train
