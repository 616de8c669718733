#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/json.h"

namespace sibyl::base {
namespace {

constexpr size_t kShownBytesMax = 80;
constexpr size_t kNameBytesMax = 200;  // longer names are not compared: the table would be large

// A value for an error message: its JSON, cut.
std::string shown(const Json& value) {
  std::string text = dump_json(value);
  if (text.size() > kShownBytesMax) {
    size_t cut = kShownBytesMax;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) {
      --cut;  // never inside a character
    }
    text.resize(cut);
    text += "…";
  }
  return text;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kDistanceMax = 3;
  std::string best;
  size_t best_distance = kDistanceMax + 1;
  if (name.size() > kNameBytesMax) {
    return best;
  }
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    // A name that shares no letter is no help, however short both are.
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

JsonFields::JsonFields(const Json& object, std::string path, Code code)
    : object_(object), path_(std::move(path)), code_(code) {
  if (!object_.is_object()) {
    errors_.push_back({code_,
                       fmt::format("{} is {}; must be an object",
                                   path_.empty() ? "the value" : path_, shown(object_)),
                       path_});
  }
}

const Json* JsonFields::find(std::string_view key) {
  known_.emplace_back(key);
  if (!object_.is_object()) {
    return nullptr;
  }
  const auto found = object_.find(std::string(key));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void JsonFields::note(std::string_view key, std::string message) {
  const std::string field = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  errors_.push_back({code_, fmt::format("{} {}", field, message), field});
}

std::string JsonFields::text(std::string_view key, std::string otherwise) {
  const Json* const value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_string()) {
    note(key, fmt::format("is {}; must be a text", shown(*value)));
    return otherwise;
  }
  return value->get<std::string>();
}

double JsonFields::number(std::string_view key, double otherwise, double lowest, double highest) {
  const Json* const value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  const double found = value->is_number() ? value->get<double>() : std::nan("");
  if (!(found >= lowest && found <= highest)) {
    note(key, fmt::format("is {}; must be a number from {} to {}", shown(*value), lowest, highest));
    return otherwise;
  }
  return found;
}

int64_t JsonFields::integer(std::string_view key, int64_t otherwise, int64_t lowest,
                            int64_t highest) {
  const Json* const value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  // Unsigned numbers above int64 and floating point are out of every range that is asked for.
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<uint64_t>() <= INT64_MAX);
  if (!fits || value->get<int64_t>() < lowest || value->get<int64_t>() > highest) {
    note(key, fmt::format("is {}; must be a whole number from {} to {}", shown(*value), lowest,
                          highest));
    return otherwise;
  }
  return value->get<int64_t>();
}

bool JsonFields::boolean(std::string_view key, bool otherwise) {
  const Json* const value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    note(key, fmt::format("is {}; must be true or false", shown(*value)));
    return otherwise;
  }
  return value->get<bool>();
}

std::vector<std::string> JsonFields::texts(std::string_view key) {
  std::vector<std::string> out;
  const Json* const value = find(key);
  if (value == nullptr) {
    return out;
  }
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_text)) {
    note(key, fmt::format("is {}; must be a list of texts", shown(*value)));
    return out;
  }
  for (const Json& item : *value) {
    out.push_back(item.get<std::string>());
  }
  return out;
}

const Json* JsonFields::value(std::string_view key) {
  return find(key);
}

const Json* JsonFields::object(std::string_view key) {
  const Json* const value = find(key);
  if (value != nullptr && !value->is_object()) {
    note(key, fmt::format("is {}; must be an object", shown(*value)));
    return nullptr;
  }
  return value;
}

bool JsonFields::has(std::string_view key) const {
  if (!object_.is_object()) {
    return false;
  }
  const auto found = object_.find(std::string(key));
  return found != object_.end() && !found->is_null();
}

std::string JsonFields::required_text(std::string_view key) {
  if (!has(key)) {
    find(key);
    note(key, "is missing; must be a text");
    return {};
  }
  return text(key);
}

Result<void> JsonFields::finish() {
  if (!errors_.empty()) {
    return tl::unexpected<Error>(errors_.front());
  }
  for (const auto& [key, unused] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) {
      continue;
    }
    const std::string nearest = nearest_name(key, known_);
    std::string message = "is not known; ";
    if (!nearest.empty()) {
      message += fmt::format("did you mean '{}'?", nearest);
    } else {
      message += fmt::format("known are: {}", fmt::join(known_, ", "));
    }
    note(shown(key).substr(1, shown(key).size() - 2), message);
    return tl::unexpected<Error>(errors_.front());
  }
  return {};
}

}  // namespace sibyl::base
