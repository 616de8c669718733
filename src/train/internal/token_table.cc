#include "train/internal/token_table.h"

#include "base/check.h"

namespace sibyl::train {

void TokenTable::add(std::span<const int32_t> ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  begins_.push_back(ids_.size());
}

std::span<const int32_t> TokenTable::at(size_t index) const {
  base::check(index < size(), "token table index is in range");
  return std::span(ids_).subspan(begins_[index], begins_[index + 1] - begins_[index]);
}

TokenTable tokenize_all(const text::Tokenizer& tokenizer,
                        const std::vector<std::string_view>& texts, const TokenizeRule& rule) {
  TokenTable table;
  text::Tokens tokens;
  std::string prompted;
  const text::TokenizeOptions options{.tokens_max = rule.tokens_max,
                                      .special_tokens = rule.special_tokens};
  for (std::string_view text : texts) {
    if (!rule.prompt.empty()) {
      prompted.assign(rule.prompt).append(text);
      text = prompted;
    }
    tokens = {};
    tokenizer.tokenize(text, options, tokens);
    table.add(tokens.ids);
  }
  return table;
}

}  // namespace sibyl::train
