#pragma once

#include <cstdint>

namespace sibyl::store {

/// An array of the typed columns' section.
struct TypedArray {
  uint64_t place = 0;
  uint64_t count = 0;
};

/// A column as it stands in the section's table.
struct TypedColumnEntry {
  TypedArray path;
  TypedArray rows;
  TypedArray codes;
  TypedArray integers;
  TypedArray reals;
  TypedArray texts;
  TypedArray dates;
  TypedArray lists;
  uint64_t code_bytes = 0;
};
static_assert(sizeof(TypedColumnEntry) == 136);

struct TypedColumnsHeader {
  uint32_t columns = 0;
  uint32_t complete = 1;
};

}  // namespace sibyl::store
