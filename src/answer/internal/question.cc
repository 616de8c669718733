#include "answer/internal/question.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "answer/internal/away_model.h"
#include "answer/internal/passage_table.h"
#include "answer/internal/retrieval_lists.h"
#include "answer/internal/row_builder.h"
#include "answer/internal/spans.h"
#include "index/vector_index.h"

namespace sibyl::answer::internal {
namespace {

constexpr size_t kChunks = static_cast<size_t>(Retrieval::Chunks);

struct Ranked {
  size_t candidate = 0;
  double score = 0;
};

/// Best first; equal scores in the order of writing.
std::vector<Ranked> rank_candidates(const Candidates& candidates, const Blend& blend, size_t top) {
  const std::vector<double> scores = blend.scores(candidates.features);
  std::vector<Ranked> ranked(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    ranked[i] = {i, scores[i]};
  }
  const size_t kept = std::min(top, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<ptrdiff_t>(kept), ranked.end(),
                    [&](const Ranked& a, const Ranked& b) {
                      return a.score != b.score ? a.score > b.score
                                                : candidates.sequences[a.candidate] <
                                                      candidates.sequences[b.candidate];
                    });
  ranked.resize(kept);
  return ranked;
}

void fill_passage(const Document& document, const PassageTable& table, size_t passage,
                  Answer& answer) {
  const Passage& place = table.passages[passage];
  answer.passage_id = fmt::format("{}#{}", document.id, passage);
  answer.begin = place.range.begin;
  answer.end = place.range.end;
  answer.text = document.text.substr(place.range.begin, place.range.end - place.range.begin);
  answer.headings = table.headings[place.heading];
}

/// Best chunk of each ranked candidate: by vector when the question has one, whatever retrievals
/// the pipeline names; nothing for BM25 alone.
Result<std::vector<uint32_t>> best_chunks(const QuestionRun& run, const Question& question,
                                          const Candidates& candidates,
                                          const std::vector<Ranked>& ranked) {
  std::vector<uint32_t> parts;
  const auto& uses = run.pipeline.blend->uses();
  if (!uses[0] && !uses[1] && !uses[kChunks]) {
    parts.assign(ranked.size(), kNoChunk);
    return parts;
  }
  if (candidates.scored[kChunks]) {
    for (const Ranked& one : ranked) {
      parts.push_back(candidates.chunk_parts[one.candidate]);
    }
    return parts;
  }
  std::vector<store::RowRef> rows;
  for (const Ranked& one : ranked) {
    rows.push_back(candidates.rows[one.candidate]);
  }
  auto hits = run.snapshot.score_vectors(kChunks, question.vector, rows);
  if (!hits) {
    return pass_on(hits);
  }
  for (const store::Hit& hit : *hits) {
    parts.push_back(hit.score == index::kNoVector ? kNoChunk : hit.part);
  }
  return parts;
}

/// Answers of ranked candidates: their document, best passage, span and retrievals.
class AnswerMaker {
 public:
  AnswerMaker(const QuestionRun& run, const QueryRequest& request, const Question& question,
              const Candidates& candidates)
      : run_(run), request_(request), question_(question), candidates_(candidates) {}

  Result<Answer> make(const Ranked& ranked, uint32_t chunk) {
    auto row = run_.snapshot.row(candidates_.rows[ranked.candidate]);
    if (!row) {
      return pass_on(row);
    }
    auto document = parse_document(row->source, row->id);
    if (!document) {
      return fail(Code::DataLoss, "document '{}' cannot be read: {}", row->id,
                  document.error().message);
    }
    auto table = unpack_passages(row->passages, document->text.size());
    if (!table) {
      return pass_on(table, fmt::format("document '{}'", row->id));
    }
    Answer answer;
    answer.id = document->id;
    answer.score = ranked.score;
    answer.title = document->title;
    answer.url = document->url;
    answer.metadata = document->metadata;
    size_t passage = chunk;
    if (passage >= table->passages.size()) {
      passage = 0;
      if (table->passages.size() > 1) {
        auto weights = term_weights();
        if (!weights) {
          return pass_on(weights);
        }
        passage = best_passage(document->text, *table, **weights, run_.analyzer);
      }
    }
    fill_passage(*document, *table, passage, answer);
    if (request_.spans) {
      auto weights = term_weights();
      if (!weights) {
        return pass_on(weights);
      }
      answer.span = best_span(answer.text, **weights, run_.analyzer);
    }
    for (size_t r = 0; r < kRetrievals; ++r) {
      answer.retrievals[r] = {candidates_.scored[r], candidates_.features[ranked.candidate][r],
                              candidates_.ranks[ranked.candidate][r]};
    }
    return answer;
  }

 private:
  /// Measured when first needed: without spans and with chunks nothing asks for them.
  Result<const TermWeights*> term_weights() {
    if (!weights_) {
      auto measured = TermWeights::measure(run_.snapshot, kContentField, question_.terms);
      if (!measured) {
        return pass_on(measured);
      }
      weights_ = std::move(*measured);
    }
    return &*weights_;
  }

  const QuestionRun& run_;
  const QueryRequest& request_;
  const Question& question_;
  const Candidates& candidates_;
  std::optional<TermWeights> weights_;
};

struct QuestionVector {
  std::vector<float> values;
  std::string away;  ///< why there are none
};

/// Encodes the question once when any vector retrieval needs it.
Result<QuestionVector> encode_question(const QuestionRun& run, const QueryRequest& request,
                                       std::stop_token stop) {
  const store::Schema& schema = run.snapshot.schema();
  auto encoder = run.encoders.find(schema.model);
  if (!encoder && is_away(encoder.error())) {
    return QuestionVector{{}, encoder.error().message};
  }
  if (!encoder) {
    return pass_on(encoder, "model of the collection");
  }
  if ((*encoder)->info().dimension != schema.vector_fields.front().dimension) {
    return fail(
        Code::FailedPrecondition,
        "model '{}' gives vectors of dimension {}, the collection's have {}; switch it with "
        "'sibyl models use'",
        (*encoder)->info().reference(), (*encoder)->info().dimension,
        schema.vector_fields.front().dimension);
  }
  encoder::EncodeOptions options;
  options.kind = encoder::TextKind::Question;
  options.urgency = encoder::Urgency::Question;
  options.stop = stop;
  const std::string_view text = request.question;
  auto encoded = (*encoder)->encode(std::span(&text, 1), options);
  if (!encoded && is_away(encoded.error())) {
    return QuestionVector{{}, encoded.error().message};
  }
  if (!encoded) {
    return pass_on(encoded, "encoding the question");
  }
  return QuestionVector{std::move(encoded->vectors), {}};
}

}  // namespace

Result<void> check_request(const QueryRequest& request) {
  if (request.question.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail_field(Code::InvalidArgument, "question", "question: is empty");
  }
  if (request.question.size() > kQuestionBytesMax) {
    return fail_field(Code::TooLarge, "question", "question: has {} bytes; at most {} are right",
                      request.question.size(), kQuestionBytesMax);
  }
  if (request.top < 1 || request.top > kTopMax) {
    return fail_field(Code::InvalidArgument, "top", "top: {} is not between 1 and {}", request.top,
                      kTopMax);
  }
  return {};
}

namespace {

/// From the candidates to the answers.
Result<std::vector<Answer>> answer_question(const QuestionRun& run, const QueryRequest& request,
                                            const Question& question, const std::stop_token& stop) {
  auto lists = search_lists(run.snapshot, question);
  if (!lists) {
    return pass_on(lists);
  }
  auto candidates = score_candidates(run.snapshot, question, *lists, run.pipeline.blend->uses());
  if (!candidates) {
    return pass_on(candidates);
  }
  const std::vector<Ranked> ranked = rank_candidates(*candidates, *run.pipeline.blend, request.top);
  auto chunks = best_chunks(run, question, *candidates, ranked);
  if (!chunks) {
    return pass_on(chunks);
  }
  std::vector<Answer> answers;
  AnswerMaker maker(run, request, question, *candidates);
  for (size_t i = 0; i < ranked.size(); ++i) {
    if (stop.stop_requested()) {
      return fail(Code::Interrupted, "the question was cancelled");
    }
    auto answer = maker.make(ranked[i], (*chunks)[i]);
    if (!answer) {
      return pass_on(answer);
    }
    answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace

Result<QuestionOutcome> run_question(const QuestionRun& run, const QueryRequest& request,
                                     std::stop_token stop) {
  Question question;
  question.terms = run.snapshot.analyze(request.question);
  question.candidates = std::max(run.pipeline.candidates, request.top);
  std::shared_ptr<const store::Selection> selection;
  if (!request.filter.empty()) {
    auto filter = store::Filter::parse(request.filter);
    if (!filter) {
      return pass_on(filter);
    }
    auto selected = run.snapshot.select(**filter);
    if (!selected) {
      return pass_on(selected);
    }
    selection = *selected;
    question.selection = selection.get();
  }
  question.listed = run.pipeline.blend->uses();
  const bool has_vectors = !run.snapshot.schema().vector_fields.empty();
  if (request.explain) {
    question.listed = {has_vectors, has_vectors, has_vectors, true};
  }
  QuestionOutcome outcome;
  if (question.listed[0] || question.listed[1] || question.listed[2]) {
    auto vector = encode_question(run, request, stop);
    if (!vector) {
      return pass_on(vector);
    }
    question.vector = std::move(vector->values);
    outcome.away = std::move(vector->away);
  }
  Result<std::vector<Answer>> answers;
  if (outcome.away.empty()) {
    answers = answer_question(run, request, question, stop);
  } else {
    question.listed = {false, false, false, true};
    const auto words_alone = resolve_pipeline("bm25", {}, false);
    if (!words_alone) {
      return tl::unexpected<Error>(words_alone.error());
    }
    answers = answer_question({run.snapshot, *words_alone, run.analyzer, run.encoders}, request,
                              question, stop);
  }
  if (!answers) {
    return pass_on(answers);
  }
  outcome.answers = std::move(*answers);
  return outcome;
}

}  // namespace sibyl::answer::internal
