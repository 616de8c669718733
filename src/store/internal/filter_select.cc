#include "store/internal/filter_select.h"

#include "store/internal/filter_codes.h"

namespace sibyl::store {
namespace {

class Selector {
 public:
  explicit Selector(const Segment& segment) : segment_(segment) {}

  /// The depth is bounded by the parser.
  index::RowSet rows_of(const FilterNode& node) const {
    switch (node.kind) {
      case NodeKind::And:
        return all_of(node.children);
      case NodeKind::Or:
        return any_of(node.children);
      case NodeKind::Not: {
        index::RowSet rows = rows_of(node.children.front());
        rows.complement();
        return rows;
      }
      default:
        return rows_of_test(node);
    }
  }

 private:
  index::RowSet all_of(std::span<const FilterNode> children) const {
    index::RowSet rows = rows_of(children.front());
    for (const FilterNode& child : children.subspan(1)) {
      rows.intersect(rows_of(child));
    }
    return rows;
  }

  index::RowSet any_of(std::span<const FilterNode> children) const {
    index::RowSet rows = rows_of(children.front());
    for (const FilterNode& child : children.subspan(1)) {
      rows.unite(rows_of(child));
    }
    return rows;
  }

  index::RowSet rows_of_test(const FilterNode& node) const {
    const TypedColumns* columns = segment_.typed_columns();
    const TypedColumn* column = columns != nullptr ? columns->find(node.path) : nullptr;
    index::RowSet rows(segment_.rows());
    if (column == nullptr) {
      if (columns == nullptr || !columns->complete()) {
        test_every_row(node, rows);
      } else if (node.kind == NodeKind::NotEqual) {
        rows.complement();  // no row has a value there
      }
      return rows;
    }
    const bool equality = node.kind == NodeKind::Equal || node.kind == NodeKind::NotEqual;
    if (equality && node.value.type == ValueType::List) {
      test_lists(node, *column, rows);
      return rows;
    }
    if (node.kind == NodeKind::NotEqual) {
      FilterNode equal = node;
      equal.kind = NodeKind::Equal;
      scan_codes(*column, codes_of_test(equal, *column).values, rows);
      rows.complement();
      return rows;
    }
    const TestCodes codes = codes_of_test(node, *column);
    scan_codes(*column, codes.values, rows);
    scan_lists(*column, codes.items, rows);
    return rows;
  }

  void test_row(const FilterNode& node, uint32_t row, index::RowSet& rows) const {
    if (evaluate(node, segment_.column(row, kTypedColumn))) {
      rows.insert(row);
    }
  }

  void test_every_row(const FilterNode& node, index::RowSet& rows) const {
    for (uint32_t row = 0; row < segment_.rows(); ++row) {
      test_row(node, row, rows);
    }
  }

  /// A list is equal to lists only; every other row is unequal.
  void test_lists(const FilterNode& node, const TypedColumn& column, index::RowSet& rows) const {
    if (node.kind == NodeKind::NotEqual) {
      rows.complement();
    }
    for (const uint32_t row : column.list_rows) {
      rows.erase(row);
      test_row(node, row, rows);
    }
  }

  const Segment& segment_;
};

}  // namespace

index::RowSet select_rows(const FilterTree& filter, const Segment& segment) {
  return Selector(segment).rows_of(filter.root());
}

}  // namespace sibyl::store
