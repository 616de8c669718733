#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/filter.h"
#include "store/internal/typed_metadata.h"

namespace sibyl::store {

/// A literal of a filter.
struct Literal {
  ValueType type = ValueType::Null;  ///< False, True, Number, Integer, Text or List
  double number = 0;
  int64_t integer = 0;
  std::string text;
  std::optional<int64_t> date_us;  ///< of a text that is an ISO date
  std::vector<Literal> items;      ///< of a List, with no lists among them
};

/// Values of an `in` list, sorted for search.
struct LiteralSet {
  std::vector<Literal> values;  ///< as written; numbers that need an exact comparison
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::vector<int64_t> dates_us;
  bool has_true = false;
  bool has_false = false;
};

enum class NodeKind {
  And,
  Or,
  Not,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  Contains,
  Exists,
  StartsWith
};

/// A filter as a tree: And and Or have many children, Not has one, the rest have a field.
struct FilterNode {
  NodeKind kind = NodeKind::And;
  std::vector<FilterNode> children;
  std::vector<std::string> path;
  Literal value;
  LiteralSet set;  ///< In
};

/// Makes the sorted forms of an `in` list.
LiteralSet make_literal_set(std::vector<Literal> values);
bool evaluate(const FilterNode& node, std::string_view typed);

/// A parsed filter that also reads rows in typed form.
class FilterTree final : public Filter {
 public:
  explicit FilterTree(FilterNode root) : root_(std::move(root)) {}
  bool matches(std::string_view metadata) const override;
  bool matches_typed(std::string_view typed) const { return evaluate(root_, typed); }
  const FilterNode& root() const { return root_; }

 private:
  FilterNode root_;
};

/// The tree of a filter made by Filter::parse.
const FilterTree& tree_of(const Filter& filter);

}  // namespace sibyl::store
