#pragma once

#include <cstdint>
#include <vector>

#include "train/internal/dataset.h"
#include "train/internal/plan.h"
#include "train/internal/token_table.h"

namespace sibyl::train {

/// What one stage trains on. Passages of the same normalised text count as one: the first of them,
/// the "canonical" passage, stands for all, so none is ever a negative of another's question.
struct StageItems {
  struct Document {
    uint32_t passage = 0;  ///< canonical
  };
  struct Question {
    std::vector<uint32_t> positives;  ///< canonical passages, sorted
    std::vector<uint32_t> documents;  ///< where it may be asked: one of them is drawn each epoch
  };
  /// One use of a question in an epoch. `document` is fixed for cold pairs.
  struct Example {
    uint32_t question = 0;
    int64_t document = -1;  ///< -1: drawn from the question's documents
  };
  std::vector<Document> documents;
  std::vector<Question> questions;
  std::vector<Example> examples;
  TokenTable document_tokens;  ///< by document, cut for training
  TokenTable question_tokens;  ///< by question
};

/// For every passage the first one with the same normalised text.
std::vector<uint32_t> canonical_passages(const std::vector<std::string>& passages);

/// Documents and questions of a stage, tokenised. Equal questions of cold pairs share one entry, so
/// that "Overview" over twenty passages has twenty positives and no false negative.
StageItems make_stage_items(Stage stage, const Dataset& data,
                            const std::vector<uint32_t>& canonical,
                            const text::Tokenizer& tokenizer, const TokenizeRule& question_rule,
                            const TokenizeRule& passage_rule);

}  // namespace sibyl::train
