#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "job/internal/evaluation_space.h"
#include "job/internal/progress.h"
#include "job/internal/steps.h"
#include "model/provenance.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

struct Settings {
  std::string kind;
  std::string base_name;
  std::string base_kind;
  std::string questions_from;
  bool fit_weights = true;
  bool compare_base = true;
  int64_t seed = 1;
};

Result<Settings> read_settings(const Workspace& workspace) {
  const auto job = workspace.job();
  if (!job) {
    return tl::unexpected<Error>(job.error());
  }
  Settings out;
  base::JsonFields fields(*job, {}, Code::InvalidConfig);
  out.kind = fields.required_text("kind");
  const Json empty = Json::object();
  const auto part = [&](const char* key) -> const Json& {
    const Json* const found = fields.object(key);
    return found == nullptr ? empty : *found;
  };
  base::JsonFields base_fields(part("base"), "base", Code::InvalidConfig);
  out.base_name = base_fields.text("name");
  out.base_kind = base_fields.text("kind", "none");
  base::JsonFields evaluate(part("evaluate"), "evaluate", Code::InvalidConfig);
  out.questions_from = evaluate.text("questions");
  out.fit_weights = evaluate.boolean("fit_weights", true);
  out.compare_base = evaluate.boolean("compare_base", true);
  const Json& train = part("train");
  if (train.contains("seed") && train["seed"].is_number_integer()) {
    out.seed = train["seed"].get<int64_t>();
  }
  return out;
}

// One model over the documents: its report as JSON and as a table.
struct Judged {
  Json report;
  std::string table;
  answer::EvaluationReport raw;
};

class EvaluateStep final : public Step {
 public:
  std::string_view name() const override { return "evaluate"; }

  Result<void> run(Workspace& workspace, const StepContext& context) override {
    const auto settings = read_settings(workspace);
    if (!settings) {
      return tl::unexpected<Error>(settings.error());
    }
    const bool trained = settings->kind != "evaluate";
    const std::string needed = trained ? "train" : "prepare";
    if (!workspace.done(needed)) {
      return fail(Code::FailedPrecondition, "{}: the step {} has not run", workspace.path(),
                  needed);
    }
    auto questions = read_workspace_questions(workspace.file("data/questions.jsonl"));
    if (!questions) {
      return pass_on(questions);
    }
    if (questions->empty()) {
      return workspace.append_event(
          name(), {{"event", "note"}, {"text", "no question is there to evaluate on"}});
    }
    auto done = judge_all(workspace, context, *settings, trained, *questions);
    if (done) {
      done = base::real_file_system().remove_tree(workspace.file("eval"));
    }
    return done;
  }

 private:
  Result<void> judge_all(Workspace& workspace, const StepContext& context, const Settings& settings,
                         bool trained, const std::vector<answer::JudgedQuestion>& questions) {
    auto space = EvaluationSpace::open(workspace.file("eval"));
    if (!space) {
      return pass_on(space);
    }
    const bool has_base = base::real_file_system().exists(workspace.file("base"));
    (*space)->encoders().add("base", workspace.file("base"));
    (*space)->encoders().add("trained", workspace.file("model"));
    const std::string subject = trained ? "trained" : has_base ? "base" : "";
    auto main = judge(workspace, context, settings, **space, subject, questions);
    if (!main) {
      return pass_on(main);
    }
    Json out = {{"questions", questions.size()}, {"questions_from", settings.questions_from}};
    out[trained ? "trained" : "model"] = main->report;
    std::string table =
        fmt::format("{} questions ({})\n\n{}\n{}", questions.size(), settings.questions_from,
                    trained ? "trained" : settings.base_name, main->table);
    if (trained && has_base && settings.compare_base) {
      auto untrained = judge(workspace, context, settings, **space, "base", questions);
      if (!untrained) {
        return pass_on(untrained);
      }
      out["base"] = untrained->report;
      table += fmt::format("\n{} untrained\n{}", settings.base_name, untrained->table);
    }
    if (auto done = write_reports(workspace, out, table); !done) {
      return done;
    }
    return trained ? record(workspace, settings, main->raw, main->report) : Result<void>();
  }

  Result<Judged> judge(Workspace& workspace, const StepContext& context, const Settings& settings,
                       EvaluationSpace& space, const std::string& model,
                       const std::vector<answer::JudgedQuestion>& questions) {
    const std::string collection = model.empty() ? "plain" : model;
    ProgressEvents progress(workspace, name(), fmt::format("encode {}", collection), "documents");
    auto filled = space.fill(collection, model, workspace.file("data/documents.jsonl"), context,
                             [&](uint64_t done, uint64_t total) { progress.report(done, total); });
    if (!filled) {
      return pass_on(filled);
    }
    answer::EvaluationOptions options;
    options.fit_weights = settings.fit_weights && !model.empty();
    options.seed = static_cast<uint64_t>(settings.seed);
    options.stop = context.stop;
    auto report = space.evaluate(collection, questions, options);
    if (!report) {
      return pass_on(report);
    }
    auto json = base::parse_json(answer::evaluation_to_json(*report), "evaluation");
    if (!json) {
      return pass_on(json);
    }
    Judged judged{std::move(*json), answer::evaluation_to_table(*report), std::move(*report)};
    for (const answer::PipelineReport& pipeline : judged.raw.pipelines) {
      auto told = workspace.append_event(
          name(), {{"event", "metric"},
                   {"name", fmt::format("{} {} nDCG@10", collection, pipeline.pipeline)},
                   {"value", pipeline.metrics[2].mean}});
      if (!told) {
        return pass_on(told);
      }
    }
    return judged;
  }

  static Result<void> write_reports(const Workspace& workspace, const Json& report,
                                    const std::string& table) {
    auto done = base::replace_file(workspace.file("report/evaluation.json"),
                                   base::dump_json(report, 1) + "\n");
    return done ? base::replace_file(workspace.file("report/table.txt"), table) : done;
  }

  // What the model's own file says of it: on what it was trained and judged, and the fitted blends.
  static Result<void> record(const Workspace& workspace, const Settings& settings,
                             const answer::EvaluationReport& report, const Json& json) {
    auto provenance = model::read_provenance(workspace.file("model"));
    if (!provenance) {
      return pass_on(provenance);
    }
    auto statistics = base::read_file(workspace.file("data/statistics.json"));
    if (!statistics) {
      return pass_on(statistics);
    }
    provenance->pipelines = report.fitted;
    provenance->metrics = base::dump_json({{"questions", report.questions},
                                           {"questions_from", settings.questions_from},
                                           {"evaluation", json}});
    provenance->trained_on = std::move(*statistics);
    return model::write_provenance(workspace.file("model"), std::move(*provenance));
  }
};

}  // namespace

std::unique_ptr<Step> make_evaluate_step() {
  return std::make_unique<EvaluateStep>();
}

}  // namespace sibyl::job::internal
