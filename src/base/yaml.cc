#include "base/yaml.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/internal/utf8_scan.h"
#include "base/json.h"

namespace sibyl::base {
namespace {

constexpr size_t kYamlBytesMax = size_t{1} << 20;

// Leaves the parser from inside a callback; caught in parse_yaml.
struct Refusal {
  size_t line = 0;
  std::string reason;
};

size_t line_of(const YAML::Mark& mark) {
  return static_cast<size_t>(std::max(mark.line, 0)) + 1;
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_sign(std::string_view text) {
  return !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
}

bool is_float_form(std::string_view text) {
  text = without_sign(text);
  const size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    if (!all_digits(without_sign(text.substr(exponent + 1)))) {
      return false;
    }
    text = text.substr(0, exponent);
  }
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    return all_digits(text);
  }
  const std::string_view whole = text.substr(0, dot);
  const std::string_view fraction = text.substr(dot + 1);
  return (whole.empty() || all_digits(whole)) && (fraction.empty() || all_digits(fraction)) &&
         !(whole.empty() && fraction.empty());
}

std::optional<int64_t> parse_integer(std::string_view text, int base) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
  }
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

// The core schema of YAML 1.2: what a plain scalar means.
Json plain_scalar(std::string_view text, size_t line) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") {
    return true;
  }
  if (text == "false" || text == "False" || text == "FALSE") {
    return false;
  }
  if (all_digits(without_sign(text))) {
    if (const auto value = parse_integer(text, 10)) {
      return *value;
    }
  }
  if (text.starts_with("0x") || text.starts_with("0o")) {
    const auto value = parse_integer(text.substr(2), text[1] == 'x' ? 16 : 8);
    if (value && text.size() > 2 && text[2] != '-' && text[2] != '+') {
      return *value;
    }
  }
  if (is_float_form(text)) {
    const std::string_view unsigned_plus = text[0] == '+' ? text.substr(1) : text;
    double value = 0;
    const auto [end, problem] =
        std::from_chars(unsigned_plus.data(), unsigned_plus.data() + unsigned_plus.size(), value);
    if (problem != std::errc()) {
      throw Refusal{line, fmt::format("the number {} is out of range", text)};
    }
    return value;
  }
  return std::string(text);
}

// Builds JSON from the parser's events. A frame is an open map or list.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(YamlLines* lines) : lines_(lines) {}

  Json take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    put(mark, nullptr, "null");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Refusal{line_of(mark), "aliases (*name) are not read here; write the value out"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    if (frames_.empty() || !frames_.back().is_map || frames_.back().has_key) {
      put(mark, scalar(mark, tag, value), value);
    } else {
      put(mark, value, value);  // a key is text whatever it looks like
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, false);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, true);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    bool is_map = false;
    Json value;
    bool has_key = false;
    std::string key;
    std::string path;  // of this map or list
  };

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      throw Refusal{line_of(mark), "anchors (&name) are not read here; write the value out"};
    }
  }

  static Json scalar(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (tag == "?" || tag.empty()) {
      return plain_scalar(value, line_of(mark));
    }
    if (tag == "!" || tag == std::string(kCore) + "str") {
      return value;
    }
    throw Refusal{line_of(mark), fmt::format("the tag {} is not read here", tag)};
  }

  std::string path_of_next() const {
    if (frames_.empty()) {
      return {};
    }
    const Frame& top = frames_.back();
    const std::string step = top.is_map ? top.key : std::to_string(top.value.size());
    return top.path.empty() ? step : top.path + "." + step;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, bool is_map) {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!" && !tag.empty()) {
      throw Refusal{line_of(mark), fmt::format("the tag {} is not read here", tag)};
    }
    if (frames_.size() >= kJsonDepthMax) {
      throw Refusal{line_of(mark), fmt::format("nests deeper than {}", kJsonDepthMax)};
    }
    if (!frames_.empty() && frames_.back().is_map && !frames_.back().has_key) {
      throw Refusal{line_of(mark), "a key must be a plain text"};
    }
    Frame frame;
    frame.is_map = is_map;
    frame.value = is_map ? Json::object() : Json::array();
    frame.path = path_of_next();
    note_line(frame.path, mark);
    frames_.push_back(std::move(frame));
  }

  void close() {
    Json value = std::move(frames_.back().value);
    frames_.pop_back();
    place(std::move(value));
  }

  void put(const YAML::Mark& mark, Json value, const std::string& text) {
    if (!frames_.empty() && frames_.back().is_map && !frames_.back().has_key) {
      Frame& top = frames_.back();
      if (top.value.contains(text)) {
        throw Refusal{line_of(mark), fmt::format("the key '{}' stands here twice", text)};
      }
      top.key = text;
      top.has_key = true;
      note_line(path_of_next(), mark);
      return;
    }
    note_line(path_of_next(), mark);
    place(std::move(value));
  }

  void place(Json value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& top = frames_.back();
    if (top.is_map) {
      top.value[top.key] = std::move(value);
      top.has_key = false;
    } else {
      top.value.push_back(std::move(value));
    }
  }

  // The key's line, which comes first, stays.
  void note_line(const std::string& path, const YAML::Mark& mark) {
    if (lines_ != nullptr && !path.empty()) {
      lines_->emplace(path, line_of(mark));
    }
  }

  YamlLines* const lines_;
  std::vector<Frame> frames_;
  Json root_;
};

Result<void> check_bytes(std::string_view text) {
  if (text.size() > kYamlBytesMax) {
    return fail(Code::InvalidConfig, "YAML of {} bytes; at most {}", text.size(), kYamlBytesMax);
  }
  size_t line = 1;
  for (size_t at = 0; at < text.size();) {
    const size_t length = internal::utf8_sequence_length(text.substr(at));
    const auto c = static_cast<unsigned char>(text[at]);
    const bool control = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
    if (length == 0 || control) {
      return fail(Code::InvalidConfig, "line {}: byte 0x{:02x} is not text in UTF-8", line, c);
    }
    line += c == '\n' ? 1 : 0;
    at += length;
  }
  return {};
}

}  // namespace

Result<Json> parse_yaml(std::string_view text, YamlLines* lines) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  if (auto right = check_bytes(text); !right) {
    return pass_on(right);
  }
  try {
    std::istringstream input{std::string(text)};
    YAML::Parser parser(input);
    Builder builder(lines);
    parser.HandleNextDocument(builder);
    Builder second(nullptr);
    if (parser.HandleNextDocument(second)) {
      return fail(Code::InvalidConfig,
                  "the file holds a second YAML document ('---'); one is read");
    }
    return builder.take_root();
  } catch (const Refusal& refusal) {
    return fail(Code::InvalidConfig, "line {}: {}", refusal.line, refusal.reason);
  } catch (const YAML::Exception& error) {
    return fail(Code::InvalidConfig, "line {}: {}", line_of(error.mark), error.msg);
  } catch (const std::exception& error) {
    return fail(Code::InvalidConfig, "not readable as YAML: {}", error.what());
  }
}

}  // namespace sibyl::base
