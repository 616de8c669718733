#include "base/internal/json_depth.h"

namespace sibyl::base::internal {
namespace {

// `at` is on the opening quote; gives the place behind the closing one, or the end of the text.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size() + 1;
}

bool ends_plain_value(char c) {
  return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

size_t json_value_length(std::string_view text, size_t depth_max) {
  size_t depth = 0;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (at > text.size()) {
        return 0;
      }
      if (depth == 0) {
        return at;
      }
      continue;
    }
    if (c == '[' || c == '{') {
      if (++depth > depth_max) {
        return 0;
      }
    } else if (c == ']' || c == '}') {
      if (depth == 0) {
        return at;
      }
      if (--depth == 0) {
        return at + 1;
      }
    } else if (depth == 0 && ends_plain_value(c)) {
      return at;
    }
    ++at;
  }
  return depth == 0 ? at : 0;
}

bool json_depth_within(std::string_view text, size_t depth_max) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '[' || c == '{') {
      if (++depth > depth_max) {
        return false;
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
    ++at;
  }
  return true;
}

}  // namespace sibyl::base::internal
