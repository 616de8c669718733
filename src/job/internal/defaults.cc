#include "job/internal/defaults.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace sibyl::job::internal {
namespace {

using base::Json;

// Value and reason for one kind of base. The figures come from fine-tuning all-MiniLM-L6-v2 and
// training static tables on a question set of 4,407 questions over 2,364 passages.
struct Default {
  Json value;
  std::string reason;
};
using Defaults = std::map<std::string, Default, std::less<>>;

int64_t label_epochs(const DataFacts& facts) {
  if (!facts.transformer) {
    return 12;
  }
  return facts.questions >= 2000 ? 2 : facts.questions >= 500 ? 4 : 6;
}

void choose_length(const DataFacts& facts, const std::string& stages, Defaults& out) {
  const bool labels = stages.find("labels") != std::string::npos;
  const bool cold = stages.find("cold") != std::string::npos;
  out["epochs"] =
      labels ? Default{label_epochs(facts),
                       fmt::format(
                           "{} questions over {} passages, {}", facts.questions, facts.passages,
                           facts.transformer ? "a pre-trained base: few passes are enough"
                                             : "a table from nothing: it needs many passes")}
             : Default{0, "the stage labels is not trained"};
  out["cold_epochs"] =
      cold ? Default{facts.transformer ? 1 : 12,
                     fmt::format("{} structural pairs, {}", facts.cold_pairs,
                                 facts.transformer ? "a pre-trained base"
                                                   : "a table from nothing: it needs many passes")}
           : Default{0, "the stage cold is not trained"};
  out["patience"] = {3, "epochs without a better validation before the end"};
  out["validate_every_steps"] = {0, "at the end of each epoch"};
  out["budget_minutes"] = {0, "no limit was given"};
}

void choose_for_transformer(const std::string& stages, Defaults& out) {
  const bool labels = stages.find("labels") != std::string::npos;
  out["learning_rate"] = {5e-5, "usual for fine-tuning a small transformer"};
  out["cold_learning_rate"] = {5e-5, "usual for fine-tuning a small transformer"};
  out["final_share"] = {0.0, "linear decay to nothing"};
  out["weight_decay"] = {0.01, "AdamW's own"};
  out["gradient_norm_max"] = {1.0, "no batch outweighs the others"};
  out["batch_passages"] = {32, "negatives of a batch against updates an epoch"};
  out["batch_questions_max"] = {128, "four times the passages"};
  out["micro_batch_tokens"] = {4096, "fits into the processor's caches and any memory"};
  out["question_tokens_max"] = {64, "questions are short"};
  out["passage_tokens_max"] = {128, "longer passages cost twice and win little"};
  out["index_tokens_max"] = labels ? Default{256, "what the base model was made for"}
                                   : Default{128, "as long as the passages of the cold start"};
  out["dropout"] = labels ? Default{0.0, "few passes over questions: little to overfit"}
                          : Default{0.1, "of the base model's own training"};
  out["symmetric"] = labels ? Default{true, "passages also find their questions"}
                            : Default{false, "a heading may stand over many passages"};
  out["dimension"] = {0, "the base model's own"};
}

void choose_for_static(Defaults& out) {
  out["learning_rate"] = {3e-3, "a table after cold pairs; higher forgets them"};
  out["cold_learning_rate"] = {5e-3, "tables of word vectors take high rates"};
  out["final_share"] = {0.05, "of the peak, at the end"};
  out["symmetric"] = {true, "passages also find their questions"};
  out["weight_decay"] = {0.0, "rare words would shrink to nothing"};
  out["gradient_norm_max"] = {0.0, "off: rows of rare words get little gradient as it is"};
  out["batch_passages"] = {256, "a table is cheap: more negatives"};
  out["batch_questions_max"] = {1024, "four times the passages"};
  out["micro_batch_tokens"] = {65536, "a table is cheap"};
  out["question_tokens_max"] = {64, "questions are short"};
  out["passage_tokens_max"] = {320, "about 256 words"};
  out["index_tokens_max"] = {320, "about 256 words"};
  out["dropout"] = {0.0, "static bases have none"};
  out["dimension"] = {256, "more costs memory and gives little from few pairs"};
}

void shrink_for_test(Defaults& out) {
  const std::string reason = "test_mode: one short pass";
  for (const char* const name : {"epochs", "cold_epochs"}) {
    if (out[name].value.get<int64_t>() > 1) {
      out[name] = {1, reason};
    }
  }
  out["batch_passages"] = {8, reason};
  out["batch_questions_max"] = {16, reason};
  out["passage_tokens_max"] = {48, reason};
}

}  // namespace

std::string default_stages(JobKind kind, bool transformer) {
  if (kind == JobKind::ColdStart) {
    return "cold";
  }
  return transformer ? "labels" : "cold,labels";
}

size_t cold_sentences_per_passage(bool transformer) {
  return transformer ? 1 : 3;
}

std::vector<ChosenParameter> choose_parameters(const JobFile& job, const DataFacts& facts) {
  Defaults out;
  std::string stages = default_stages(facts.kind, facts.transformer);
  out["stages"] = {stages, facts.kind == JobKind::ColdStart ? "no labels in a cold start"
                           : facts.transformer
                               ? "a pre-trained base with labels learns less after cold pairs"
                               : "cold pairs before labels help a table from nothing"};
  if (const auto given = job.train.find("stages"); given != job.train.end()) {
    stages = base::parse_json(given->second).value_or(Json(stages)).get<std::string>();
  }
  choose_length(facts, stages, out);
  facts.transformer ? choose_for_transformer(stages, out) : choose_for_static(out);
  out["warmup_share"] = {0.1, "a tenth of the steps"};
  out["scale"] = {20.0, "temperature 0.05 of the softmax over cosines"};
  out["mask_margin"] = {-1.0, "off: only the same passage or text is no negative"};
  out["seed"] = {1, "any number; the same gives the same run"};
  out["threads"] = {0, "all cores"};
  if (facts.test_mode) {
    shrink_for_test(out);
  }
  std::vector<ChosenParameter> chosen;
  for (const TrainParameter& parameter : train_parameters()) {
    const std::string name(parameter.name);
    if (const auto given = job.train.find(name); given != job.train.end()) {
      chosen.push_back(
          {name, base::parse_json(given->second).value_or(Json()), "given in the job file"});
    } else {
      chosen.push_back({name, out[name].value, out[name].reason});
    }
  }
  return chosen;
}

}  // namespace sibyl::job::internal
