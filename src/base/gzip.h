#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::base {

bool is_gzip(std::string_view bytes);
/// Inflates all members. TooLarge above `bytes_max` (a bomb), InvalidData when cut short or
/// damaged.
Result<std::string> gunzip(std::string_view bytes, uint64_t bytes_max);
std::string gzip(std::string_view bytes, int level = 6);

/// Reads a file of lines, plain or gzip, in bounded memory. `on_line(number from 1, line without
/// its end)` returns false to stop. A line over `line_bytes_max` is reported as an empty view with
/// `too_long` true and skipped. "-" is standard input.
struct Line {
  uint64_t number = 0;
  std::string_view text;
  bool too_long = false;
};
Result<void> for_each_line(const std::string& path, uint64_t line_bytes_max,
                           const std::function<bool(const Line&)>& on_line);

}  // namespace sibyl::base
