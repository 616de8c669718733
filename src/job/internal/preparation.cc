#include "job/internal/preparation.h"

#include <utility>

namespace sibyl::job::internal {
namespace {

std::string given_text(const JobFile& job, const char* name, std::string otherwise) {
  const auto given = job.train.find(name);
  if (given == job.train.end()) {
    return otherwise;
  }
  const auto value = base::parse_json(given->second);
  return value && value->is_string() ? value->get<std::string>() : otherwise;
}

uint64_t given_seed(const JobFile& job) {
  const auto given = job.train.find("seed");
  const auto value =
      given == job.train.end() ? Result<base::Json>(1) : base::parse_json(given->second);
  return value && value->is_number_integer() ? value->get<uint64_t>() : 1;
}

}  // namespace

Result<Preparation> prepare(const JobFile& job, const StepContext& context) {
  if (auto there = check_inputs_exist(job); !there) {
    return pass_on(there);
  }
  Preparation out;
  auto base = find_base_model(job, context);
  if (!base) {
    return pass_on(base);
  }
  out.base = std::move(*base);
  const bool transformer = out.base.kind == "transformer";
  const std::string stages = given_text(job, "stages", default_stages(job.kind, transformer));
  BuildOptions options;
  options.transformer = transformer;
  options.seed = given_seed(job);
  options.labels = stages.find("labels") != std::string::npos;
  options.cold = stages.find("cold") != std::string::npos;
  auto data = build_training_data(job, options, context);
  if (!data) {
    return pass_on(data);
  }
  out.data = std::move(*data);
  if (job.kind != JobKind::Evaluate) {
    DataFacts facts;
    facts.kind = job.kind;
    facts.transformer = transformer;
    facts.test_mode = job.test_mode;
    facts.questions = out.data.pairs.size();
    facts.cold_pairs = out.data.cold.size();
    facts.passages = out.data.passages.size();
    facts.valid = out.data.valid.size();
    out.parameters = choose_parameters(job, facts);
  }
  return out;
}

}  // namespace sibyl::job::internal
