#include "base/json.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <simdjson.h>

#include "base/internal/json_depth.h"

namespace sibyl::base {
namespace {

namespace dom = simdjson::dom;

// Above this size the parser's memory is not kept for the thread's next text.
constexpr size_t kKeptParserBytes = size_t{1} << 20;
// From so many keys on, duplicates are looked for with a table instead of one by one.
constexpr size_t kLinearKeys = 16;

Json to_json(const dom::element& element);

Json to_json_object(const dom::object& object) {
  Json value = Json::object();
  // The ordered map is a vector: appending by hand keeps large objects linear.
  auto& entries = static_cast<Json::object_t::Container&>(value.get_ref<Json::object_t&>());
  entries.reserve(object.size());
  std::unordered_map<std::string_view, size_t> places;
  const bool table = object.size() > kLinearKeys;
  for (const dom::key_value_pair field : object) {
    size_t place = entries.size();
    if (table) {
      place = places.emplace(field.key, place).first->second;
    } else {
      for (size_t i = 0; i < entries.size(); ++i) {
        place = entries[i].first == field.key ? i : place;
      }
    }
    if (place < entries.size()) {
      entries[place].second = to_json(field.value);  // a later value of the same key wins
    } else {
      entries.emplace_back(std::string(field.key), to_json(field.value));
    }
  }
  return value;
}

// Recursion is bounded by kJsonDepthMax, which the parser checked.
Json to_json(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::OBJECT:
      return to_json_object(dom::object(element.get_object().value_unsafe()));
    case dom::element_type::ARRAY: {
      Json value = Json::array();
      const dom::array items = element.get_array().value_unsafe();
      for (const dom::element item : items) {
        value.push_back(to_json(item));
      }
      return value;
    }
    case dom::element_type::STRING:
      return std::string(element.get_string().value_unsafe());
    case dom::element_type::INT64:
      return element.get_int64().value_unsafe();
    case dom::element_type::UINT64:
      return element.get_uint64().value_unsafe();
    case dom::element_type::DOUBLE:
      return element.get_double().value_unsafe();
    case dom::element_type::BOOL:
      return element.get_bool().value_unsafe();
    case dom::element_type::NULL_VALUE:
      break;
  }
  return nullptr;
}

// Says where a text is wrong, which simdjson does not, and reads what only its number parser
// refuses: integers over 64 bits, which become floating point.
Result<Json> parse_slowly(std::string_view text, std::string_view what, simdjson::error_code why) {
  if (!internal::json_depth_within(text, kJsonDepthMax)) {
    return fail(Code::InvalidData, "{}: nests deeper than {}", what, kJsonDepthMax);
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    const size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const std::string_view before = text.substr(0, at);
    const size_t line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const size_t column = at - (before.rfind('\n') + 1) + 1;
    return fail(Code::InvalidData, "{}: not valid JSON at line {}, column {}: {}", what, line,
                column, simdjson::error_message(why));
  } catch (const Json::exception& error) {
    return fail(Code::InvalidData, "{}: not valid JSON: {}", what, error.what());
  }
}

Result<Json> parse_with(dom::parser& parser, std::string_view text, std::string_view what) {
  simdjson::error_code why = simdjson::SUCCESS;
  if (parser.capacity() < text.size() || parser.max_depth() != kJsonDepthMax) {
    why = parser.allocate(std::max(text.size(), parser.capacity()), kJsonDepthMax);
  }
  if (why == simdjson::SUCCESS) {
    dom::element root;
    why = parser.parse(text.data(), text.size(), true).get(root);
    if (why == simdjson::SUCCESS) {
      return to_json(root);
    }
  }
  if (why == simdjson::MEMALLOC || why == simdjson::CAPACITY) {
    return fail(Code::TooLarge, "{}: {} bytes of JSON are too many", what, text.size());
  }
  return parse_slowly(text, what, why);
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(Code::InvalidData, "{}: empty where JSON is expected", what);
  }
  if (text.size() > kKeptParserBytes) {
    dom::parser parser;
    return parse_with(parser, text, what);
  }
  thread_local dom::parser parser;
  return parse_with(parser, text, what);
}

std::string dump_json(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sibyl::base
