#include "store/internal/merge_memory.h"

#include <algorithm>

namespace sibyl::store {
namespace {

/// A term of a text while postings are put together: row, frequency, and its share of the result.
constexpr uint64_t kBytesATerm = 12;
/// Typed metadata of many distinct values: a table's entry, the value and its code stand beside
/// each, and it takes ten bytes itself.
constexpr uint64_t kBytesATypedByte = 10;
/// Sequence, key, place in the order of ids, filter, live rows, number of vectors.
constexpr uint64_t kBytesARow = 64;

}  // namespace

uint64_t merge_bytes(const CollectionState& state, std::span<const MergedRow> rows) {
  const uint64_t columns = kFirstTextColumn + state.schema->text_fields.size();
  uint64_t typed = 0;
  for (const MergedRow& row : rows) {
    typed += state.segments[row.segment].segment->column(row.row, kTypedColumn).size();
  }
  uint64_t postings = 0;
  for (size_t field = 0; field < state.schema->text_fields.size(); ++field) {
    uint64_t terms = 0;
    for (const SegmentState& segment : state.segments) {
      terms += segment.postings[field]->total_length();
    }
    postings = std::max(postings, terms * kBytesATerm);
  }
  const uint64_t rows_bytes = rows.size() * (kBytesARow + columns * sizeof(uint64_t));
  return rows_bytes + std::max(postings, typed * kBytesATypedByte);
}

uint64_t replace_bytes(const SegmentState& segment, const Schema& next) {
  uint64_t vectors = segment.live_rows;
  for (const auto& field : segment.vectors) {
    vectors = std::max<uint64_t>(vectors, field->vectors());
  }
  uint64_t bytes = 0;
  for (const VectorField& field : next.vector_fields) {
    bytes += vectors * field.dimension * sizeof(float);
  }
  return bytes + segment.segment->rows() * sizeof(uint32_t) * next.vector_fields.size();
}

}  // namespace sibyl::store
