#include "model/internal/model_reference.h"

#include <algorithm>
#include <charconv>

namespace sibyl::model {

bool is_model_name(std::string_view name) {
  const auto small = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kModelNameLengthMax && small(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return small(c) || c == '.' || c == '_' || c == '-'; });
}

Result<void> check_model_name(std::string_view name) {
  if (!is_model_name(name) || name == kDefaultFile) {
    return fail_field(Code::InvalidArgument, "name",
                      "model name '{}' is wrong; it must be 1 to {} of a-z 0-9 . _ -, begin with a "
                      "letter or digit, and not be '{}'",
                      name, kModelNameLengthMax, kDefaultFile);
  }
  return {};
}

std::optional<uint32_t> parse_model_version(std::string_view text) {
  uint32_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version == 0 ||
      text.front() == '0') {
    return std::nullopt;
  }
  return version;
}

Result<ModelReference> parse_model_reference(const std::string& text) {
  const size_t at = text.find('@');
  ModelReference out{text.substr(0, at), std::nullopt};
  auto checked = check_model_name(out.name);
  if (!checked) {
    return pass_on(checked);
  }
  if (at != std::string::npos) {
    out.version = parse_model_version(std::string_view(text).substr(at + 1));
    if (!out.version) {
      return fail_field(Code::InvalidArgument, "version",
                        "model '{}': the version after '@' must be a whole number from 1", text);
    }
  }
  return out;
}

}  // namespace sibyl::model
