#include "encoder/internal/reply_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/json_access.h"
#include "text/utf8.h"

namespace sibyl::encoder {
namespace {

constexpr size_t kVersionBytesMax = 64;
constexpr size_t kWordsBytesMax = 200;

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= kVersionBytesMax && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace

Result<void> append_number(const base::Json& value, std::vector<float>& out) {
  if (!value.is_number()) {
    return bad_reply("a vector holds something that is no number");
  }
  const auto number = value.get<double>();
  if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()))) {
    return bad_reply("a vector holds a number that is not finite as float32");
  }
  out.push_back(static_cast<float>(number));
  return {};
}

Result<std::string> version_from(const base::Json& value, std::string_view field) {
  if (value.is_null()) {
    return bad_reply(
        "it does not say the model's version ({}); vectors of two versions could not "
        "be told apart",
        field);
  }
  std::string text = value.is_string()           ? value.get<std::string>()
                     : value.is_number_integer() ? base::dump_json(value)
                                                 : std::string();
  if (!is_version(text)) {
    return bad_reply("{} is no version: 1 to {} letters, digits, '.', '_', '-' are", field,
                     kVersionBytesMax);
  }
  return text;
}

std::optional<uint64_t> count_from(const base::Json& value) {
  if (value.is_number_unsigned()) {
    return value.get<uint64_t>();
  }
  const bool right = value.is_number_integer() && value.get<int64_t>() >= 0;
  return right ? std::optional(static_cast<uint64_t>(value.get<int64_t>())) : std::nullopt;
}

std::optional<std::pair<uint64_t, uint64_t>> shape_from(const base::Json& value) {
  if (!value.is_array() || value.size() != 2) {
    return std::nullopt;
  }
  const auto rows = count_from(value[0]);
  const auto dimension = count_from(value[1]);
  return rows && dimension ? std::optional(std::pair(*rows, *dimension)) : std::nullopt;
}

Result<void> check_shape(uint64_t rows, uint64_t dimension, const ReplyLimits& limits) {
  if (rows != limits.texts) {
    return bad_reply("{} vectors for {} texts", rows, limits.texts);
  }
  if (dimension < 1 || dimension > limits.dimension_max) {
    return bad_reply("a vector of {} numbers; 1 to {} are right", dimension, limits.dimension_max);
  }
  return {};
}

std::string error_words(std::string_view body) {
  constexpr size_t kBodyBytesMax = 65536;
  const auto json = base::parse_json(body.substr(0, kBodyBytesMax));
  if (!json || !json->is_object()) {
    return {};
  }
  std::string words = base::text_at(*json, "error");  // Open Inference
  for (const auto& [object, key] :
       {std::pair("status", "info"), std::pair("error", "message")}) {  // Seldon, OpenAI
    words = words.empty() ? base::text_at(base::value_at(*json, object), key) : words;
  }
  for (const char* key : {"detail", "title"}) {  // problem documents
    words = words.empty() ? base::text_at(*json, key) : words;
  }
  if (words.size() > kWordsBytesMax) {
    words.resize(text::cut_utf8(words, kWordsBytesMax).size());
  }
  std::ranges::replace_if(
      words, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }, ' ');
  return words;
}

}  // namespace sibyl::encoder
