#include "answer/evaluation.h"

#include <fmt/format.h>

#include "answer/internal/gold_answers.h"
#include "answer/internal/weight_fit.h"

namespace sibyl::answer {
namespace {

/// What R@100 and MAP@100 need.
constexpr size_t kTop = 100;

Result<PipelineReport> run_pipeline(const Asker& ask, const std::vector<JudgedQuestion>& questions,
                                    const std::string& pipeline, const EvaluationOptions& options) {
  PipelineReport report;
  report.pipeline = pipeline;
  QueryRequest request;
  request.top = kTop;
  request.pipeline = pipeline;
  request.spans = false;
  for (const JudgedQuestion& judged : questions) {
    if (options.stop.stop_requested()) {
      return fail(Code::Interrupted, "the evaluation was stopped");
    }
    request.question = judged.question;
    request.explain = report.per_question.empty();  // The first reply says the blend.
    auto reply = ask(request);
    if (!reply) {
      return pass_on(reply, fmt::format("question '{}'", judged.id));
    }
    if (request.explain) {
      report.blend = reply->blend;
    }
    const internal::GoldAnswers gold(judged);
    report.per_question.push_back(
        rank::score_ranking(internal::hits_of(reply->answers, gold), gold.count()));
  }
  report.metrics = rank::estimate(report.per_question, 1000, options.seed);
  return report;
}

/// Whether the collection has vectors: without, every pipeline answers by BM25 and says so.
Result<bool> has_vectors(const Asker& ask, const std::vector<JudgedQuestion>& questions) {
  QueryRequest request;
  request.question = questions.front().question;
  request.top = 1;
  request.spans = false;
  request.pipeline = "document";
  auto reply = ask(request);
  if (!reply) {
    return pass_on(reply);
  }
  return reply->pipeline == "document";
}

Result<void> fit_weights(const Asker& ask, const std::vector<JudgedQuestion>& questions,
                         const EvaluationOptions& options, EvaluationReport& report) {
  auto table = internal::collect_features(ask, questions, options.stop);
  if (!table) {
    return pass_on(table);
  }
  const std::vector<std::pair<std::string, std::vector<Retrieval>>> fits = {
      {"document+bm25", {Retrieval::Document, Retrieval::Bm25}},
      {"blend", {Retrieval::Document, Retrieval::Headings, Retrieval::Chunks, Retrieval::Bm25}}};
  for (const auto& [name, retrievals] : fits) {
    auto fit = internal::fit_pipeline(name, *table, retrievals, options.seed);
    if (!fit) {
      return pass_on(fit, fmt::format("fitting '{}'", name));
    }
    report.fitted[name] = fit->expression;
    report.pipelines.push_back(std::move(fit->fitted));
    report.cross_fitted.push_back(std::move(fit->cross_fitted));
  }
  return {};
}

}  // namespace

Result<EvaluationReport> evaluate(const Asker& given, const std::vector<JudgedQuestion>& questions,
                                  const EvaluationOptions& options) {
  if (questions.empty()) {
    return fail(Code::InvalidArgument, "there is no judged question to evaluate on");
  }
  // Answers of BM25 in another pipeline's place would be figures of nothing.
  const Asker ask = [&given](const QueryRequest& request) -> Result<QueryReply> {
    auto reply = given(request);
    return reply && reply->without_model ? fail(Code::Unavailable, "{}", reply->notice)
                                         : std::move(reply);
  };
  auto vectors = has_vectors(ask, questions);
  if (!vectors) {
    return pass_on(vectors);
  }
  std::vector<std::string> pipelines = options.pipelines;
  if (pipelines.empty() && *vectors) {
    pipelines = {"bm25", "document", "document+bm25", "blend"};
  } else if (pipelines.empty()) {
    pipelines = {"bm25"};
  }
  EvaluationReport report;
  report.questions = questions.size();
  for (const std::string& pipeline : pipelines) {
    auto one = run_pipeline(ask, questions, pipeline, options);
    if (!one) {
      return pass_on(one, fmt::format("pipeline '{}'", pipeline));
    }
    report.pipelines.push_back(std::move(*one));
  }
  if (options.fit_weights && *vectors) {
    if (auto fitted = fit_weights(ask, questions, options, report); !fitted) {
      return pass_on(fitted);
    }
  }
  return report;
}

}  // namespace sibyl::answer
