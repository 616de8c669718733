#include "job/job_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/yaml.h"
#include "job/internal/bases.h"

namespace sibyl::job {
namespace {

using base::Json;
using base::JsonFields;

constexpr std::array<std::string_view, 3> kKinds = {"supervised", "coldstart", "evaluate"};

tl::unexpected<Error> wrong(std::string field, std::string_view value, std::string_view right) {
  return fail_field(Code::InvalidConfig, field, "{} is {}; {}", field, value, right);
}

std::string absolute(const std::string& path, const std::string& folder) {
  return path.empty() ? path : base::join_path(folder, path);
}

Result<JobKind> parse_kind(const std::string& text) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (text == kKinds[i]) {
      return static_cast<JobKind>(i);
    }
  }
  const std::vector<std::string> known(kKinds.begin(), kKinds.end());
  const std::string nearest = base::nearest_name(text, known);
  return wrong("kind", text.empty() ? "missing" : "'" + text + "'",
               nearest.empty() ? "must be supervised, coldstart or evaluate"
                               : fmt::format("did you mean '{}'?", nearest));
}

Result<void> check_device(const std::string& device) {
  const bool numbered =
      device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
      std::all_of(device.begin() + 5, device.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (device == "auto" || device == "cpu" || device == "cuda" || numbered) {
    return {};
  }
  return wrong("device", "'" + device + "'", "must be auto, cpu, cuda or cuda:N");
}

// Names of models: what the registry takes.
Result<void> check_name(const std::string& name) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), fine) ||
      name[0] == '.' || name[0] == '_' || name[0] == '-') {
    return wrong("name", name.empty() ? "missing" : "'" + name + "'",
                 "must be 1 to 64 of a-z 0-9 . _ -, a letter or digit first");
  }
  return {};
}

void read_parameter(JsonFields& fields, const TrainParameter& parameter, const Json& object,
                    std::map<std::string, std::string>& out) {
  if (!fields.has(parameter.name)) {
    fields.value(parameter.name);  // known, not given
    return;
  }
  switch (parameter.type) {
    case TrainParameter::Type::Integer:
      fields.integer(parameter.name, 0, static_cast<int64_t>(parameter.lowest),
                     static_cast<int64_t>(parameter.highest));
      break;
    case TrainParameter::Type::Number:
      fields.number(parameter.name, 0, parameter.lowest, parameter.highest);
      break;
    case TrainParameter::Type::Boolean:
      fields.boolean(parameter.name, false);
      break;
    case TrainParameter::Type::Text:
      fields.text(parameter.name);
      break;
  }
  out[std::string(parameter.name)] = base::dump_json(object.at(std::string(parameter.name)));
}

Result<void> read_train(const Json* object, JobFile& job) {
  if (object == nullptr) {
    return {};
  }
  JsonFields fields(*object, "train", Code::InvalidConfig);
  for (const TrainParameter& parameter : train_parameters()) {
    read_parameter(fields, parameter, *object, job.train);
  }
  const std::string stages = fields.text("stages", "labels");
  if (auto done = fields.finish(); !done) {
    return done;
  }
  if (stages != "labels" && stages != "cold" && stages != "cold,labels") {
    return wrong("train.stages", "'" + stages + "'", "must be labels, cold or cold,labels");
  }
  if (job.kind == JobKind::ColdStart && stages != "cold" && job.train.contains("stages")) {
    return wrong("train.stages", "'" + stages + "'", "a cold start has no labels: cold");
  }
  return {};
}

Result<void> read_data(const Json* object, const std::string& folder, JobFile& job) {
  if (object == nullptr) {
    return wrong("data", "missing", "must say where the training data is");
  }
  JsonFields fields(*object, "data", Code::InvalidConfig);
  job.pairs = absolute(fields.text("pairs"), folder);
  job.texts = absolute(fields.text("texts"), folder);
  job.collection = fields.text("collection");
  if (auto done = fields.finish(); !done) {
    return done;
  }
  if (job.kind == JobKind::Supervised && job.pairs.empty()) {
    return wrong("data.pairs", "missing", "a supervised job needs questions with answers");
  }
  if (job.kind != JobKind::Supervised && !job.pairs.empty()) {
    return wrong("data.pairs", "'" + job.pairs + "'", "only a supervised job has pairs");
  }
  if (job.kind != JobKind::Supervised && job.texts.empty() && job.collection.empty()) {
    return wrong("data", "without texts and collection", "one of them must name the documents");
  }
  return {};
}

Result<void> read_evaluate(const Json* object, const std::string& folder, JobFile& job) {
  if (object != nullptr) {
    JsonFields fields(*object, "evaluate", Code::InvalidConfig);
    job.evaluate_questions = absolute(fields.text("questions"), folder);
    job.evaluate_qrels = absolute(fields.text("qrels"), folder);
    job.evaluate_texts = absolute(fields.text("texts"), folder);
    job.fit_weights = fields.boolean("fit_weights", true);
    job.compare_base = fields.boolean("compare_base", true);
    if (auto done = fields.finish(); !done) {
      return done;
    }
  }
  if (job.evaluate_questions.empty() &&
      !(job.evaluate_qrels.empty() && job.evaluate_texts.empty())) {
    return wrong("evaluate.questions", "missing", "qrels and texts are of use with questions only");
  }
  if (job.kind == JobKind::Evaluate && job.evaluate_questions.empty()) {
    return wrong("evaluate.questions", "missing", "an evaluation needs judged questions");
  }
  return {};
}

Result<void> read_rest(JsonFields& fields, const std::string& folder, JobFile& job) {
  job.test_mode = fields.boolean("test_mode", false);
  job.allow_cpu_fallback = fields.boolean("allow_cpu_fallback", false);
  job.device = fields.text("device", "auto");
  job.base_given = fields.has("base");
  job.base = fields.text("base", "minilm");
  if (const Json* const tune = fields.object("auto_tune")) {
    JsonFields inner(*tune, "auto_tune", Code::InvalidConfig);
    job.auto_tune = inner.boolean("enabled", false);
    job.auto_tune_budget_minutes = inner.number("budget_minutes", 30, 1, 100000);
    if (auto done = inner.finish(); !done) {
      return done;
    }
  }
  if (const Json* const deploy = fields.object("deploy")) {
    JsonFields inner(*deploy, "deploy", Code::InvalidConfig);
    job.deploy_collection = inner.text("collection");
    if (auto done = inner.finish(); !done) {
      return done;
    }
  }
  if (is_base_folder(job.base)) {
    job.base = absolute(job.base, folder);
  }
  return {};
}

Result<void> check_built(const JobFile& job) {
  if (job.auto_tune) {
    return fail_field(Code::Unimplemented, "auto_tune.enabled",
                      "auto_tune.enabled is true; tuning is not built yet, set it to false");
  }
  return internal::check_base_name(job.base);
}

}  // namespace

std::string_view kind_name(JobKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

bool is_base_folder(std::string_view base) {
  return base.find('/') != std::string_view::npos;
}

Result<JobFile> job_from_json(const Json& json, const std::string& folder) {
  JobFile job;
  JsonFields fields(json, {}, Code::InvalidConfig);
  const std::string kind_text = fields.text("kind");
  job.name = fields.text("name");
  const Json* const data = fields.object("data");
  const Json* const train = fields.object("train");
  const Json* const evaluate = fields.object("evaluate");
  auto done = read_rest(fields, folder, job);
  if (done) {
    done = fields.finish();
  }
  if (!done) {
    return pass_on(done);
  }
  const auto kind = parse_kind(kind_text);
  if (!kind) {
    return tl::unexpected<Error>(kind.error());
  }
  job.kind = *kind;
  if (job.kind == JobKind::Evaluate && job.name.empty()) {
    job.name = "evaluation";
  }
  done = check_name(job.name);
  for (const auto& step : std::array<std::function<Result<void>()>, 5>{
           [&] { return read_data(data, folder, job); }, [&] { return read_train(train, job); },
           [&] { return read_evaluate(evaluate, folder, job); },
           [&] { return check_device(job.device); }, [&] { return check_built(job); }}) {
    if (done) {
      done = step();
    }
  }
  if (!done) {
    return pass_on(done);
  }
  return job;
}

Result<JobFile> parse_job_file(std::string_view yaml, const std::string& folder) {
  base::YamlLines lines;
  const auto json = base::parse_yaml(yaml, &lines);
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  auto job = job_from_json(*json, folder);
  if (!job) {
    Error error = std::move(job.error());
    // The field itself, or the nearest thing around it that stands in the file.
    for (std::string path = error.field; !path.empty();) {
      if (const auto line = lines.find(path); line != lines.end()) {
        error.message = fmt::format("line {}: {}", line->second, error.message);
        break;
      }
      const size_t dot = path.rfind('.');
      path.resize(dot == std::string::npos ? 0 : dot);
    }
    return tl::unexpected<Error>(std::move(error));
  }
  return job;
}

Json job_to_json(const JobFile& job) {
  Json out = {{"kind", std::string(kind_name(job.kind))}, {"name", job.name}};
  Json data = Json::object();
  const auto put = [](Json& object, const char* key, const std::string& value) {
    if (!value.empty()) {
      object[key] = value;
    }
  };
  put(data, "pairs", job.pairs);
  put(data, "texts", job.texts);
  put(data, "collection", job.collection);
  out["data"] = std::move(data);
  if (job.base_given) {
    out["base"] = job.base;
  }
  Json train = Json::object();
  for (const auto& [name, value] : job.train) {
    train[name] = base::parse_json(value).value_or(Json());
  }
  out["train"] = std::move(train);
  out["auto_tune"] = {{"enabled", job.auto_tune}, {"budget_minutes", job.auto_tune_budget_minutes}};
  out["test_mode"] = job.test_mode;
  out["device"] = job.device;
  out["allow_cpu_fallback"] = job.allow_cpu_fallback;
  Json evaluate = Json::object();
  put(evaluate, "questions", job.evaluate_questions);
  put(evaluate, "qrels", job.evaluate_qrels);
  put(evaluate, "texts", job.evaluate_texts);
  evaluate["fit_weights"] = job.fit_weights;
  evaluate["compare_base"] = job.compare_base;
  out["evaluate"] = std::move(evaluate);
  if (!job.deploy_collection.empty()) {
    out["deploy"] = {{"collection", job.deploy_collection}};
  }
  return out;
}

Result<void> check_inputs_exist(const JobFile& job) {
  const std::array<std::pair<const char*, const std::string*>, 5> inputs{
      {{"data.pairs", &job.pairs},
       {"data.texts", &job.texts},
       {"evaluate.questions", &job.evaluate_questions},
       {"evaluate.qrels", &job.evaluate_qrels},
       {"evaluate.texts", &job.evaluate_texts}}};
  for (const auto& [field, path] : inputs) {
    if (!path->empty() && !base::real_file_system().exists(*path)) {
      return fail_field(Code::NotFound, field, "{} is '{}'; no such file", field, *path);
    }
  }
  if (is_base_folder(job.base) && !base::real_file_system().exists(job.base)) {
    return fail_field(Code::NotFound, "base", "base is '{}'; no such model folder", job.base);
  }
  return {};
}

}  // namespace sibyl::job
