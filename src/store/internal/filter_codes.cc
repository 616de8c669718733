#include "store/internal/filter_codes.h"

#include <algorithm>
#include <string_view>

namespace sibyl::store {
namespace {

/// Places in an ascending array: values before `lower` are less than a literal, from `upper` on
/// greater, those between equal.
struct Bounds {
  size_t lower = 0;
  size_t upper = 0;
};

template <class Less, class Greater>
Bounds bounds_of(size_t count, const Less& less, const Greater& greater) {
  const auto first = [count](const auto& before) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (before(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {first(less), first([&](size_t at) { return !greater(at); })};
}

/// The places that a comparison holds for.
CodeSet::Range places_of(NodeKind kind, Bounds bounds, size_t count) {
  const auto lower = static_cast<uint32_t>(bounds.lower);
  const auto upper = static_cast<uint32_t>(std::max(bounds.lower, bounds.upper));
  const auto end = static_cast<uint32_t>(count);
  switch (kind) {
    case NodeKind::Less:
      return {0, lower};
    case NodeKind::LessEqual:
      return {0, upper};
    case NodeKind::Greater:
      return {upper, end};
    case NodeKind::GreaterEqual:
      return {lower, end};
    default:
      return {lower, upper};
  }
}

bool holds(NodeKind kind, int64_t value, int64_t literal) {
  switch (kind) {
    case NodeKind::Less:
      return value < literal;
    case NodeKind::LessEqual:
      return value <= literal;
    case NodeKind::Greater:
      return value > literal;
    case NodeKind::GreaterEqual:
      return value >= literal;
    default:
      return value == literal;
  }
}

class TestCompiler {
 public:
  explicit TestCompiler(const TypedColumn& column) : column_(column) {}

  void add_comparison(NodeKind kind, const Literal& literal, CodeSet& set) const {
    if (literal.type == ValueType::Integer || literal.type == ValueType::Number) {
      add_numbers(kind, literal, set);
    } else if (literal.type == ValueType::Text) {
      add_texts(kind, literal, set);
    } else if (kind == NodeKind::Equal && literal.type == ValueType::True) {
      set.add(kTrueCode, kTrueCode + 1);
    } else if (kind == NodeKind::Equal && literal.type == ValueType::False) {
      set.add(kFalseCode, kFalseCode + 1);
    }
  }

  void add_set(const LiteralSet& wanted, CodeSet& set) const {
    for (const Literal& literal : wanted.values) {
      if (literal.type != ValueType::Text) {
        add_comparison(NodeKind::Equal, literal, set);
      }
    }
    for (const std::string& text : wanted.texts) {
      add_places(column_.first_text(),
                 places_of(NodeKind::Equal, text_bounds(text), column_.texts.size()), set);
    }
    if (!wanted.dates_us.empty()) {
      for (size_t i = 0; i < column_.dates.size(); ++i) {
        if (column_.dates[i] != kNoDate &&
            std::binary_search(wanted.dates_us.begin(), wanted.dates_us.end(), column_.dates[i])) {
          add_text(i, set);
        }
      }
    }
  }

  void add_prefixed(std::string_view prefix, CodeSet& set) const {
    const Bounds bounds = bounds_of(
        column_.texts.size(),
        [&](size_t at) { return column_.text(at).substr(0, prefix.size()) < prefix; },
        [&](size_t at) { return column_.text(at).substr(0, prefix.size()) > prefix; });
    add_places(column_.first_text(), places_of(NodeKind::Equal, bounds, column_.texts.size()), set);
  }

  void add_containing(std::string_view part, CodeSet& set) const {
    for (size_t i = 0; i < column_.texts.size(); ++i) {
      if (column_.text(i).find(part) != std::string_view::npos) {
        add_text(i, set);
      }
    }
  }

 private:
  static void add_places(uint32_t first, CodeSet::Range places, CodeSet& set) {
    set.add(first + places.begin, first + places.end);
  }
  void add_text(size_t number, CodeSet& set) const {
    const auto place = static_cast<uint32_t>(number);
    add_places(column_.first_text(), {place, place + 1}, set);
  }

  /// Two integers are compared as such, everything else as float64.
  void add_numbers(NodeKind kind, const Literal& literal, CodeSet& set) const {
    const auto& integers = column_.integers;
    const Bounds whole =
        literal.type == ValueType::Integer
            ? bounds_of(
                  integers.size(), [&](size_t at) { return integers[at] < literal.integer; },
                  [&](size_t at) { return integers[at] > literal.integer; })
            : bounds_of(
                  integers.size(),
                  [&](size_t at) { return static_cast<double>(integers[at]) < literal.number; },
                  [&](size_t at) { return static_cast<double>(integers[at]) > literal.number; });
    add_places(kFirstValueCode, places_of(kind, whole, integers.size()), set);
    const auto& reals = column_.reals;
    const Bounds real = bounds_of(
        reals.size(), [&](size_t at) { return reals[at] < literal.number; },
        [&](size_t at) { return reals[at] > literal.number; });
    add_places(column_.first_real(), places_of(kind, real, reals.size()), set);
  }

  Bounds text_bounds(std::string_view text) const {
    return bounds_of(
        column_.texts.size(), [&](size_t at) { return column_.text(at) < text; },
        [&](size_t at) { return column_.text(at) > text; });
  }

  /// Dates are compared with a date as such, other texts as texts.
  void add_texts(NodeKind kind, const Literal& literal, CodeSet& set) const {
    const CodeSet::Range as_text = places_of(kind, text_bounds(literal.text), column_.texts.size());
    if (!literal.date_us || column_.dates.empty()) {
      add_places(column_.first_text(), as_text, set);
      return;
    }
    for (size_t i = 0; i < column_.dates.size(); ++i) {
      const bool match = column_.dates[i] == kNoDate
                             ? i >= as_text.begin && i < as_text.end
                             : holds(kind, column_.dates[i], *literal.date_us);
      if (match) {
        add_text(i, set);
      }
    }
  }

  const TypedColumn& column_;
};

}  // namespace

TestCodes codes_of_test(const FilterNode& node, const TypedColumn& column) {
  const TestCompiler compiler(column);
  TestCodes codes;
  switch (node.kind) {
    case NodeKind::Exists:
      codes.values.add(kMissingCode + 1, column.code_end());
      break;
    case NodeKind::In:
      compiler.add_set(node.set, codes.values);
      codes.items = codes.values;
      break;
    case NodeKind::Contains:
      if (node.value.type == ValueType::Text) {
        compiler.add_containing(node.value.text, codes.values);
      }
      compiler.add_comparison(NodeKind::Equal, node.value, codes.items);
      break;
    case NodeKind::StartsWith:
      compiler.add_prefixed(node.value.text, codes.values);
      codes.items = codes.values;
      break;
    default:
      compiler.add_comparison(node.kind, node.value, codes.values);
      break;
  }
  codes.values.finish();
  codes.items.finish();
  return codes;
}

}  // namespace sibyl::store
