#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "index/memory_view.h"
#include "seal_checksums.h"
#include "store/internal/filter_select.h"
#include "store/internal/segment.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  static const auto filter = *store::Filter::parse(
      "a.b contains 1 or c = [1, 'x'] or d < 2 or e starts_with 'x' or f >= '2020-01-01' or "
      "f in [1, 'x', '2020-01-01', true] or not a exists or a != 3");
  for (const bool sealed : {false, true}) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (sealed) {
      fuzz::seal_checksums(bytes);
    }
    const auto opened = store::Segment::open(index::memory_view(std::move(bytes)), "fuzz", 1);
    if (!opened) {
      continue;
    }
    const store::Segment& segment = **opened;
    static_cast<void>(store::select_rows(store::tree_of(*filter), segment).count());
    for (uint32_t row = 0; row < segment.rows(); ++row) {
      const std::string_view id = segment.id(segment.row_by_id(row));
      segment.find(id, base::hash64(id), [](uint32_t) {});
      static_cast<void>(
          store::tree_of(*filter).matches_typed(segment.column(row, store::kTypedColumn)));
      static_cast<void>(segment.column(row, store::kFirstTextColumn).size());
    }
  }
  return 0;
}
