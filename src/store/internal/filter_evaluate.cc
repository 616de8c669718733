#include <algorithm>
#include <compare>

#include "store/internal/filter_tree.h"
#include "store/internal/iso_date.h"

namespace sibyl::store {
namespace {

bool is_number(ValueType type) {
  return type == ValueType::Number || type == ValueType::Integer;
}
bool is_boolean(ValueType type) {
  return type == ValueType::True || type == ValueType::False;
}

/// Unordered when the types cannot be compared.
std::partial_ordering compare(const TypedValue& value, const Literal& literal) {
  if (value.type == ValueType::Integer && literal.type == ValueType::Integer) {
    return value.integer <=> literal.integer;
  }
  if (is_number(value.type) && is_number(literal.type)) {
    return value.number <=> literal.number;
  }
  if (value.type == ValueType::Text && literal.type == ValueType::Text) {
    if (literal.date_us) {
      if (const std::optional<int64_t> date = parse_iso_date(value.text)) {
        return *date <=> *literal.date_us;
      }
    }
    return value.text.compare(literal.text) <=> 0;
  }
  return std::partial_ordering::unordered;
}

bool equal_scalar(const TypedValue& value, const Literal& literal) {
  if (is_boolean(value.type)) {
    return value.type == literal.type;
  }
  return compare(value, literal) == 0;
}

bool equal(const TypedValue& value, const Literal& literal) {
  if (value.type != ValueType::List || literal.type != ValueType::List) {
    return equal_scalar(value, literal);
  }
  TypedReader reader(value.text);
  TypedValue item;
  for (const Literal& wanted : literal.items) {
    if (!reader.next(item) || !equal_scalar(item, wanted)) {
      return false;
    }
  }
  return !reader.next(item);
}

template <class Test>
bool any_item(const TypedValue& list, const Test& test) {
  TypedReader reader(list.text);
  TypedValue item;
  while (reader.next(item)) {
    if (test(item)) {
      return true;
    }
  }
  return false;
}

bool in_set(const TypedValue& value, const LiteralSet& set) {
  switch (value.type) {
    case ValueType::True:
      return set.has_true;
    case ValueType::False:
      return set.has_false;
    case ValueType::Number:
      return std::binary_search(set.numbers.begin(), set.numbers.end(), value.number);
    case ValueType::Integer:
      // Rounding may make two integers equal, so a hit is looked at again.
      return std::binary_search(set.numbers.begin(), set.numbers.end(), value.number) &&
             std::any_of(set.values.begin(), set.values.end(),
                         [&](const Literal& literal) { return equal_scalar(value, literal); });
    case ValueType::Text:
      if (std::binary_search(set.texts.begin(), set.texts.end(), value.text, std::less<>())) {
        return true;
      }
      if (!set.dates_us.empty()) {
        const std::optional<int64_t> date = parse_iso_date(value.text);
        return date && std::binary_search(set.dates_us.begin(), set.dates_us.end(), *date);
      }
      return false;
    case ValueType::List:
      return any_item(value, [&](const TypedValue& item) {
        return item.type != ValueType::List && in_set(item, set);
      });
    case ValueType::Null:
    case ValueType::Object:
      return false;
  }
  return false;
}

bool contains(const TypedValue& value, const Literal& literal) {
  if (value.type == ValueType::Text) {
    return literal.type == ValueType::Text &&
           value.text.find(literal.text) != std::string_view::npos;
  }
  return value.type == ValueType::List &&
         any_item(value, [&](const TypedValue& item) { return equal_scalar(item, literal); });
}

bool starts_with(const TypedValue& value, const Literal& literal) {
  if (value.type == ValueType::Text) {
    return value.text.starts_with(literal.text);
  }
  return value.type == ValueType::List && any_item(value, [&](const TypedValue& item) {
           return item.type == ValueType::Text && item.text.starts_with(literal.text);
         });
}

bool test_value(const FilterNode& node, const TypedValue& value) {
  switch (node.kind) {
    case NodeKind::Equal:
      return equal(value, node.value);
    case NodeKind::NotEqual:
      return !equal(value, node.value);
    case NodeKind::Less:
      return compare(value, node.value) < 0;
    case NodeKind::LessEqual:
      return compare(value, node.value) <= 0;
    case NodeKind::Greater:
      return compare(value, node.value) > 0;
    case NodeKind::GreaterEqual:
      return compare(value, node.value) >= 0;
    case NodeKind::In:
      return in_set(value, node.set);
    case NodeKind::Contains:
      return contains(value, node.value);
    case NodeKind::StartsWith:
      return starts_with(value, node.value);
    case NodeKind::Exists:
      return true;
    case NodeKind::And:
    case NodeKind::Or:
    case NodeKind::Not:
      return false;
  }
  return false;
}

}  // namespace

LiteralSet make_literal_set(std::vector<Literal> values) {
  LiteralSet set;
  for (const Literal& value : values) {
    if (is_number(value.type)) {
      set.numbers.push_back(value.number);
    } else if (value.type == ValueType::Text) {
      set.texts.push_back(value.text);
      if (value.date_us) {
        set.dates_us.push_back(*value.date_us);
      }
    } else {
      set.has_true = set.has_true || value.type == ValueType::True;
      set.has_false = set.has_false || value.type == ValueType::False;
    }
  }
  std::sort(set.numbers.begin(), set.numbers.end());
  std::sort(set.texts.begin(), set.texts.end());
  std::sort(set.dates_us.begin(), set.dates_us.end());
  set.values = std::move(values);
  return set;
}

bool evaluate(const FilterNode& node, std::string_view typed) {
  const auto holds = [&](const FilterNode& child) { return evaluate(child, typed); };
  switch (node.kind) {
    case NodeKind::And:
      return std::all_of(node.children.begin(), node.children.end(), holds);
    case NodeKind::Or:
      return std::any_of(node.children.begin(), node.children.end(), holds);
    case NodeKind::Not:
      return !holds(node.children.front());
    default:
      break;
  }
  const std::optional<TypedValue> value = find_value(typed, node.path);
  return value ? test_value(node, *value) : node.kind == NodeKind::NotEqual;
}

bool FilterTree::matches(std::string_view metadata) const {
  const Result<std::string> typed = encode_typed_metadata(metadata);
  return typed && matches_typed(*typed);
}

const FilterTree& tree_of(const Filter& filter) {
  return dynamic_cast<const FilterTree&>(filter);
}

}  // namespace sibyl::store
