#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "answer/internal/settings.h"
#include "answer/pipeline.h"
#include "store/snapshot.h"
#include "text/analyzer.h"

namespace sibyl::answer::internal {

inline constexpr size_t kQuestionBytesMax = 16384;
inline constexpr size_t kTopMax = 1000;

/// Checks what needs no collection: question there and not too long, `top` in range.
Result<void> check_request(const QueryRequest& request);

/// One question through one pipeline over one snapshot, as DESIGN section 3 draws it: encode once,
/// candidates of each retrieval, every feature for every candidate, blend, passages and spans of
/// the best. No step goes back.
struct QuestionRun {
  const store::Snapshot& snapshot;
  const Pipeline& pipeline;
  const text::Analyzer& analyzer;
  EncoderSource& encoders;
};
/// A model that cannot be asked leaves BM25, whatever the pipeline is.
struct QuestionOutcome {
  std::vector<Answer> answers;
  std::string away;  ///< why the model could not be asked; empty: it was, or was not needed
};
Result<QuestionOutcome> run_question(const QuestionRun& run, const QueryRequest& request,
                                     std::stop_token stop);

}  // namespace sibyl::answer::internal
