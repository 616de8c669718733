#include "base/json.h"
#include "job/job_file.h"

namespace sibyl::job {
namespace {

using base::Json;

Json text(const char* what) {
  return {{"type", "string"}, {"description", what}};
}
Json flag(bool otherwise, const char* what) {
  return {{"type", "boolean"}, {"default", otherwise}, {"description", what}};
}
Json object(Json properties, const char* what) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"description", what},
          {"properties", std::move(properties)}};
}

Json parameter_schema(const TrainParameter& parameter) {
  Json schema = Json::object();
  switch (parameter.type) {
    case TrainParameter::Type::Integer:
      schema["type"] = "integer";
      schema["minimum"] = static_cast<int64_t>(parameter.lowest);
      schema["maximum"] = static_cast<int64_t>(parameter.highest);
      break;
    case TrainParameter::Type::Number:
      schema["type"] = "number";
      schema["minimum"] = parameter.lowest;
      schema["maximum"] = parameter.highest;
      break;
    case TrainParameter::Type::Boolean:
      schema["type"] = "boolean";
      break;
    case TrainParameter::Type::Text:
      schema["enum"] = {"labels", "cold", "cold,labels"};  // the only text parameter
      break;
  }
  schema["description"] = std::string(parameter.what);
  return schema;
}

Json train_schema() {
  Json properties = Json::object();
  for (const TrainParameter& parameter : train_parameters()) {
    properties[std::string(parameter.name)] = parameter_schema(parameter);
  }
  return object(std::move(properties),
                "training parameters; what is left out is chosen from the data, with the reason");
}

}  // namespace

std::string job_json_schema() {
  Json properties = Json::object();
  properties["kind"] = {{"enum", {"supervised", "coldstart", "evaluate"}}};
  properties["name"] = {{"type", "string"},
                        {"pattern", "^[a-z0-9][a-z0-9._-]{0,63}$"},
                        {"description", "model name; a new version each time"}};
  properties["data"] =
      object({{"pairs", text("JSONL or CSV of question and answer or answer_id; supervised")},
              {"texts", text("documents: a file or folder as `sibyl add` takes them")},
              {"collection", text("documents of this collection, instead of or beside files")}},
             "paths are relative to the job file");
  properties["base"] = {{"type", "string"},
                        {"default", "minilm"},
                        {"description", "a model's name or folder, or static_custom"}};
  properties["train"] = train_schema();
  properties["auto_tune"] =
      object({{"enabled", flag(false, "not built yet")},
              {"budget_minutes",
               {{"type", "number"}, {"minimum", 1}, {"maximum", 100000}, {"default", 30}}}},
             "search for better parameters");
  properties["test_mode"] = flag(false, "one short pass through everything");
  properties["device"] = {
      {"type", "string"}, {"pattern", "^(auto|cpu|cuda|cuda:[0-9]{1,3})$"}, {"default", "auto"}};
  properties["allow_cpu_fallback"] =
      flag(false, "train on the processor when a GPU is there but cannot be used");
  properties["evaluate"] = object(
      {{"questions", text("judged questions, never trained on")},
       {"qrels", text("judgements of the questions, when they stand in a file of their own")},
       {"texts", text("documents to answer from; without, those of training")},
       {"fit_weights", flag(true, "fit the weights of the blends on the questions")},
       {"compare_base", flag(true, "evaluate the untrained base model beside")}},
      "held-out evaluation");
  properties["deploy"] = object({{"collection", text("switched to the new model when published")}},
                                "what happens after publishing");
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "Sibyl job file"},
                 {"type", "object"},
                 {"additionalProperties", false},
                 {"required", {"kind", "data"}},
                 {"properties", std::move(properties)}};
  return base::dump_json(schema, 2) + "\n";
}

}  // namespace sibyl::job
