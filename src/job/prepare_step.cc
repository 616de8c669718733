#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "job/internal/data_writer.h"
#include "job/internal/preparation.h"
#include "job/internal/steps.h"
#include "text/tokenizer.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

constexpr size_t kStaticVocabulary = 30'000;

// A job file that comes with the call wins over what the workspace has: prepare is not done yet.
Result<JobFile> job_of_call(const std::string& text, const Workspace& workspace) {
  const auto json = base::parse_json(text, "the job file in SIBYL_JOB");
  if (!json) {
    return fail_field(Code::InvalidConfig, "SIBYL_JOB", "{}", json.error().message);
  }
  return job_from_json(*json, workspace.path());
}

// Else the workspace's job.json holds the job file under "job" from the start.
Result<JobFile> read_job(const Workspace& workspace, const StepContext& context) {
  if (context.job_file.find_first_not_of(" \t\r\n") != std::string::npos) {
    return job_of_call(context.job_file, workspace);
  }
  const auto json = workspace.job();
  if (!json && json.error().code == Code::NotFound) {
    return fail(Code::NotFound,
                "{} is not there and SIBYL_JOB is blank: nothing says what the job is",
                workspace.file("job.json"));
  }
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  const auto inner = json->find("job");
  if (inner == json->end()) {
    return fail(Code::InvalidConfig, "{} has no 'job': it does not say what to do",
                workspace.file("job.json"));
  }
  return job_from_json(*inner, workspace.path());
}

Result<void> write_vocabulary(const TrainingData& data, const Workspace& workspace) {
  std::vector<std::string_view> texts;
  for (const Passage& passage : data.passages) {
    texts.push_back(passage.text);
  }
  for (const LabelledQuestion& question : data.pairs) {
    texts.push_back(question.question);
  }
  return base::replace_file(workspace.file("data/tokenizer.json"),
                            text::learn_wordpiece_json(texts, kStaticVocabulary));
}

Json workspace_job(const JobFile& job, const Preparation& prepared) {
  Json out = {{"format", 1},
              {"kind", std::string(kind_name(job.kind))},
              {"name", job.name},
              {"base", {{"name", prepared.base.name}, {"kind", prepared.base.kind}}},
              {"device", job.device},
              {"allow_cpu_fallback", job.allow_cpu_fallback},
              {"test_mode", job.test_mode}};
  Json train = Json::object();
  Json reasons = Json::object();
  for (const ChosenParameter& parameter : prepared.parameters) {
    train[parameter.name] = parameter.value;
    reasons[parameter.name] = parameter.reason;
  }
  out["train"] = std::move(train);
  out["reasons"] = std::move(reasons);
  out["evaluate"] = {{"questions", prepared.data.questions_from},
                     {"fit_weights", job.fit_weights},
                     {"compare_base", job.compare_base}};
  out["deploy"] = Json::object();
  if (!job.deploy_collection.empty()) {
    out["deploy"]["collection"] = job.deploy_collection;
  }
  out["job"] = job_to_json(job);
  return out;
}

class PrepareStep final : public Step {
 public:
  std::string_view name() const override { return "prepare"; }

  Result<void> run(Workspace& workspace, const StepContext& context) override {
    const auto job = read_job(workspace, context);
    if (!job) {
      return tl::unexpected<Error>(job.error());
    }
    const auto prepared = prepare(*job, context);
    if (!prepared) {
      return tl::unexpected<Error>(prepared.error());
    }
    if (auto done = tell(workspace, *prepared); !done) {
      return done;
    }
    if (!prepared->base.folder.empty()) {
      if (auto done = copy_model(prepared->base.folder, workspace.file("base")); !done) {
        return done;
      }
    }
    if (job->kind != JobKind::Evaluate && prepared->base.kind == "static") {
      if (auto done = write_vocabulary(prepared->data, workspace); !done) {
        return done;
      }
    }
    if (auto done = write_training_data(prepared->data, workspace); !done) {
      return done;
    }
    return workspace.write_job(workspace_job(*job, *prepared));
  }

 private:
  Result<void> tell(Workspace& workspace, const Preparation& prepared) const {
    for (const std::string& note : prepared.data.notes) {
      if (auto done = workspace.append_event(name(), {{"event", "note"}, {"text", note}}); !done) {
        return done;
      }
    }
    if (prepared.parameters.empty()) {
      return {};
    }
    Json parameters = Json::array();
    for (const ChosenParameter& parameter : prepared.parameters) {
      parameters.push_back(
          {{"name", parameter.name}, {"value", parameter.value}, {"reason", parameter.reason}});
    }
    return workspace.append_event(name(),
                                  {{"event", "plan"}, {"parameters", std::move(parameters)}});
  }
};

}  // namespace

std::unique_ptr<Step> make_prepare_step() {
  return std::make_unique<PrepareStep>();
}

}  // namespace sibyl::job::internal
