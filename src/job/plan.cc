#include "job/plan.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "job/internal/preparation.h"

namespace sibyl::job {

Result<Plan> plan_job(const JobFile& job, const StepContext& context) {
  auto prepared = internal::prepare(job, context);
  if (!prepared) {
    return pass_on(prepared);
  }
  Plan plan;
  plan.name = job.name;
  plan.kind = std::string(kind_name(job.kind));
  plan.base = prepared->base.name;
  plan.base_kind = prepared->base.kind;
  plan.steps = steps_of(plan.kind);
  plan.notes = std::move(prepared->data.notes);
  plan.statistics = base::dump_json(prepared->data.statistics);
  for (internal::ChosenParameter& parameter : prepared->parameters) {
    plan.parameters.push_back(
        {std::move(parameter.name), base::dump_json(parameter.value), std::move(parameter.reason)});
  }
  return plan;
}

std::string plan_to_json(const Plan& plan) {
  base::Json out = {{"name", plan.name},
                    {"kind", plan.kind},
                    {"base", {{"name", plan.base}, {"kind", plan.base_kind}}},
                    {"steps", plan.steps},
                    {"statistics", base::parse_json(plan.statistics).value_or(base::Json())},
                    {"notes", plan.notes}};
  base::Json parameters = base::Json::array();
  for (const PlannedParameter& parameter : plan.parameters) {
    parameters.push_back({{"name", parameter.name},
                          {"value", base::parse_json(parameter.value).value_or(base::Json())},
                          {"reason", parameter.reason}});
  }
  out["parameters"] = std::move(parameters);
  return base::dump_json(out);
}

std::string plan_to_text(const Plan& plan) {
  std::string out = fmt::format("job: {} ({})\nbase: {} ({})\nsteps: {}\n", plan.name, plan.kind,
                                plan.base.empty() ? "none" : plan.base, plan.base_kind,
                                fmt::join(plan.steps, ", "));
  const auto statistics = base::parse_json(plan.statistics);
  if (statistics && statistics->is_object()) {
    out += "data:\n";
    for (const auto& [key, value] : statistics->items()) {
      out += fmt::format("  {:<28} {}\n", key,
                         value.is_string()         ? value.get<std::string>()
                         : value.is_number_float() ? fmt::format("{:.1f}", value.get<double>())
                                                   : base::dump_json(value));
    }
  }
  if (!plan.parameters.empty()) {
    size_t widest = 0;
    for (const PlannedParameter& parameter : plan.parameters) {
      widest = std::max(widest, parameter.value.size());
    }
    out += "parameters:\n";
    for (const PlannedParameter& parameter : plan.parameters) {
      out += fmt::format("  {:<22} {:<{}}  {}\n", parameter.name, parameter.value, widest,
                         parameter.reason);
    }
  }
  for (const std::string& note : plan.notes) {
    out += fmt::format("note: {}\n", note);
  }
  return out;
}

}  // namespace sibyl::job
