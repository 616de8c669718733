#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace sibyl::train {

/// Token ids of many texts, one after another. Append-only.
class TokenTable {
 public:
  void add(std::span<const int32_t> ids);
  size_t size() const { return begins_.size() - 1; }
  std::span<const int32_t> at(size_t index) const;
  size_t tokens() const { return ids_.size(); }

 private:
  std::vector<int32_t> ids_;
  std::vector<size_t> begins_ = {0};
};

/// How texts become tokens on one side (questions or passages).
struct TokenizeRule {
  std::string prompt;            ///< put before every text
  size_t tokens_max = SIZE_MAX;  ///< special tokens included
  bool special_tokens = true;
};

/// Tokenises texts; a text may give no token at all (static models).
TokenTable tokenize_all(const text::Tokenizer& tokenizer,
                        const std::vector<std::string_view>& texts, const TokenizeRule& rule);

}  // namespace sibyl::train
