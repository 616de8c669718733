#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::base {

/// One row of a body: the exact bytes of its JSON, and its line (JSONL) or position (array),
/// from 1.
struct JsonRow {
  size_t line = 0;
  std::string_view text;
};

/// Splits a body into rows without decoding them: a JSON array of values, or JSONL (blank lines
/// skipped). Views point into `body`. Fails only when an array cannot be split (unbalanced,
/// trailing bytes, deeper than kJsonDepthMax); whether each row is right JSON is decided later.
Result<std::vector<JsonRow>> split_json_rows(std::string_view body, size_t rows_max);

}  // namespace sibyl::base
