#pragma once

#include "store/internal/code_set.h"
#include "store/internal/filter_tree.h"

namespace sibyl::store {

/// What a filter's test means in codes of one column: it holds for rows whose value has a code of
/// `values`, and for lists with an item of `items`.
struct TestCodes {
  CodeSet values;
  CodeSet items;
};

/// `node` is a test other than != (which is the complement of =), and not = with a list.
TestCodes codes_of_test(const FilterNode& node, const TypedColumn& column);

}  // namespace sibyl::store
