#include "encoder/internal/text_tokens.h"

#include <algorithm>

namespace sibyl::encoder {

namespace {

size_t limit_of(const model::ModelDirectory& model, const EncodeOptions& options) {
  size_t limit = model.tokens_max == 0 ? SIZE_MAX : model.tokens_max;
  if (options.tokens_max != 0) {
    limit = std::min(limit, options.tokens_max);
  }
  return limit;
}

}  // namespace

TextTokens::TextTokens(const model::ModelDirectory& model, size_t rows,
                       const EncodeOptions& options, bool special_tokens)
    : tokenizer_(*model.tokenizer), rows_(rows) {
  options_.tokens_max = limit_of(model, options);
  options_.special_tokens = special_tokens;
  const auto prompt = model.prompts.find(options.kind == TextKind::Question ? "query" : "document");
  if (prompt == model.prompts.end()) {
    return;
  }
  prompt_ = prompt->second;
  tokenizer_.tokenize(prompt_, options_, tokens_);
  prompt_tokens_ = tokens_.ids.size();
  const int32_t last = tokenizer_.last_special_id();
  if (special_tokens && last >= 0 && !tokens_.ids.empty() && tokens_.ids.back() == last) {
    --prompt_tokens_;
  }
}

const std::vector<int32_t>& TextTokens::ids(std::string_view text) {
  if (!prompt_.empty()) {
    joined_.assign(prompt_).append(text);
    text = joined_;
  }
  tokenizer_.tokenize(text, options_, tokens_);
  if (tokens_.ids.size() > options_.tokens_max) {
    // Fewer tokens than the special ones alone were asked for.
    tokens_.ids.resize(options_.tokens_max);
    tokens_.truncated = true;
  }
  const int32_t unknown = tokenizer_.unknown_id();
  for (int32_t& id : tokens_.ids) {
    if (id < 0 || static_cast<size_t>(id) >= rows_) {
      id = unknown >= 0 && static_cast<size_t>(unknown) < rows_ ? unknown : 0;
    }
  }
  return tokens_.ids;
}

}  // namespace sibyl::encoder
