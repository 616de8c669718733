#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/internal/filter_tree.h"

namespace sibyl::store {

enum class TokenKind { End, Name, QuotedName, Text, Number, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;     ///< names and texts without quotes; symbols and numbers as written
  size_t position = 0;  ///< in the filter, from 1
};

/// Cuts a filter into tokens; the last is End. InvalidArgument with the position.
Result<std::vector<Token>> tokenize_filter(std::string_view filter);

/// The error of a filter at a position.
tl::unexpected<Error> filter_error(size_t position, std::string_view what);

}  // namespace sibyl::store
