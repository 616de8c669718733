#include "model/internal/safetensors_header.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"

namespace sibyl::model {

namespace {

constexpr std::array<std::pair<std::string_view, TensorType>, 10> kTypes = {{
    {"F64", TensorType::F64},
    {"F32", TensorType::F32},
    {"F16", TensorType::F16},
    {"BF16", TensorType::BF16},
    {"I64", TensorType::I64},
    {"I32", TensorType::I32},
    {"I16", TensorType::I16},
    {"I8", TensorType::I8},
    {"U8", TensorType::U8},
    {"BOOL", TensorType::Bool},
}};

/// Walks the header event by event. A tree of values would hide keys that stand twice, and the
/// grammar is small: an object of objects whose fields are a text, or a list of whole numbers.
class HeaderEvents final : public nlohmann::json_sax<base::Json> {
 public:
  explicit HeaderEvents(SafeTensorsHeader& header) : header_(header) {}

  const std::string& problem() const { return problem_; }

  bool key(std::string& text) override {
    if (depth_ == 1) {
      entry_ = TensorEntry{};
      entry_.name = text;
      fields_.clear();
      in_metadata_ = text == "__metadata__";
      if (!names_.insert(text).second) {
        return refuse("key '{}' stands twice", text);
      }
      return true;
    }
    field_ = text;
    if (in_metadata_ ? header_.metadata.contains(text) : !fields_.insert(text).second) {
      return refuse("'{}': key '{}' stands twice", entry_.name, text);
    }
    return true;
  }

  bool start_object(size_t /*elements*/) override {
    if (in_list_ || depth_ >= 2) {
      return refuse("'{}': an object stands where none belongs", entry_.name);
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ != 1 || in_metadata_) {
      return true;
    }
    for (const char* needed : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(needed)) {
        return refuse("'{}': {} is missing", entry_.name, needed);
      }
    }
    header_.entries.push_back(std::move(entry_));
    return true;
  }

  bool start_array(size_t /*elements*/) override {
    if (depth_ != 2 || in_metadata_ || in_list_ ||
        (field_ != "shape" && field_ != "data_offsets")) {
      return refuse("'{}': a list stands where none belongs", entry_.name);
    }
    in_list_ = true;
    list_.clear();
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (field_ == "shape") {
      entry_.shape = list_;
      return true;
    }
    if (list_.size() != 2) {
      return refuse("'{}': data_offsets has {} numbers; it must have 2", entry_.name, list_.size());
    }
    entry_.begin = list_[0];
    entry_.end = list_[1];
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata.emplace(field_, text);
      return true;
    }
    if (depth_ != 2 || in_list_ || field_ != "dtype") {
      return refuse("'{}': the text '{}' stands where none belongs", entry_.name, text);
    }
    const auto* found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == text; });
    if (found == kTypes.end()) {
      return refuse(
          "'{}': dtype '{}' is not known; known are F64, F32, F16, BF16, I64, I32, I16, I8, U8, "
          "BOOL",
          entry_.name, text);
    }
    entry_.type = found->second;
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (!in_list_) {
      return refuse("'{}': the number {} stands where none belongs", entry_.name, value);
    }
    if (list_.size() >= kTensorRankMax) {
      return refuse("'{}': more than {} dimensions", entry_.name, kTensorRankMax);
    }
    list_.push_back(value);
    return true;
  }

  bool number_integer(int64_t value) override {
    return refuse("'{}': {} is negative", entry_.name, value);
  }
  bool number_float(double value, const std::string& /*text*/) override {
    return refuse("'{}': {} is not a whole number below 2^64", entry_.name, value);
  }
  bool null() override { return refuse("'{}': null stands where none belongs", entry_.name); }
  bool boolean(bool value) override {
    return refuse("'{}': {} stands where none belongs", entry_.name, value);
  }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return refuse("binary value"); }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    return refuse("wrong JSON at byte {}: {}", position, error.what());
  }

 private:
  template <class... Args>
  bool refuse(fmt::format_string<Args...> text, Args&&... args) {
    problem_ = fmt::format(text, std::forward<Args>(args)...);
    return false;
  }

  SafeTensorsHeader& header_;
  std::string problem_;
  std::set<std::string> names_;
  std::set<std::string> fields_;
  TensorEntry entry_;
  std::string field_;
  std::vector<uint64_t> list_;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool in_list_ = false;
};

/// Bytes of a tensor, or nothing when the product does not fit.
std::optional<uint64_t> tensor_bytes(const TensorEntry& entry) {
  uint64_t bytes = element_bytes(entry.type);
  for (const uint64_t length : entry.shape) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Result<void> check_layout(SafeTensorsHeader& header, uint64_t buffer_bytes,
                          const std::string& name) {
  std::sort(header.entries.begin(), header.entries.end(),
            [](const TensorEntry& a, const TensorEntry& b) {
              return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
            });
  uint64_t next = 0;
  for (const TensorEntry& entry : header.entries) {
    if (entry.end < entry.begin || entry.end > buffer_bytes) {
      return fail(Code::InvalidData,
                  "{}: tensor '{}': data_offsets [{}, {}] do not lie in the {} bytes of the file's "
                  "buffer; the file is cut or damaged",
                  name, entry.name, entry.begin, entry.end, buffer_bytes);
    }
    if (entry.begin != next) {
      return fail(
          Code::InvalidData,
          "{}: tensor '{}': data begins at {}, but the tensor before it ends at {}; tensors "
          "must lie without holes and overlaps",
          name, entry.name, entry.begin, next);
    }
    const std::optional<uint64_t> bytes = tensor_bytes(entry);
    if (!bytes || *bytes != entry.end - entry.begin) {
      return fail(Code::InvalidData, "{}: tensor '{}': {} bytes do not hold {} of shape [{}]", name,
                  entry.name, entry.end - entry.begin, type_name(entry.type),
                  fmt::join(entry.shape, ", "));
    }
    next = entry.end;
  }
  if (next != buffer_bytes) {
    return fail(Code::InvalidData, "{}: {} bytes lie after the last tensor", name,
                buffer_bytes - next);
  }
  return {};
}

}  // namespace

std::string_view type_name(TensorType type) {
  for (const auto& [text, known] : kTypes) {
    if (known == type) {
      return text;
    }
  }
  return "unknown";
}

Result<SafeTensorsHeader> parse_safetensors_header(std::string_view json, uint64_t buffer_bytes,
                                                   const std::string& name) {
  SafeTensorsHeader header;
  if (json.empty() || json.front() != '{') {
    return fail(Code::InvalidData, "{}: the header does not begin with '{{'", name);
  }
  HeaderEvents events(header);
  if (!base::Json::sax_parse(json.begin(), json.end(), &events)) {
    return fail(Code::InvalidData, "{}: header: {}", name, events.problem());
  }
  auto checked = check_layout(header, buffer_bytes, name);
  if (!checked) {
    return pass_on(checked);
  }
  return header;
}

}  // namespace sibyl::model
