#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/derived_index.h"
#include "index/memory_view.h"
#include "seal_checksums.h"

namespace {

/// 260 rows of none, one or two vectors of eight numbers, the same every time.
std::shared_ptr<const sibyl::index::VectorIndex> make_vectors() {
  using namespace sibyl;
  index::VectorFileBuilder builder(8);
  uint32_t state = 1;
  for (size_t row = 0; row < 260; ++row) {
    std::vector<float> vector(row % 8 == 0 ? 0 : row % 8 == 1 ? 16 : 8);
    for (float& value : vector) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 16U) / 65536.0F - 0.5F;
    }
    (void)builder.add_row(vector);
  }
  auto opened = index::open_exact_index(index::memory_view(builder.finish()), "vectors");
  return std::move(*opened);
}

/// A good file over these vectors with the input written over a part of it: most bytes of a file
/// that is invented whole would not get past the fingerprint of the vectors.
std::string patched(const std::string& good, const uint8_t* data, size_t size) {
  std::string bytes = good;
  if (size > 4) {
    const size_t at =
        (size_t{data[0]} | size_t{data[1]} << 8U | size_t{data[2]} << 16U) % good.size();
    for (size_t i = 4; i < size && at + i - 4 < bytes.size(); ++i) {
      bytes[at + i - 4] = static_cast<char>(data[i]);
    }
  }
  return bytes;
}

/// A right file of one metric and form.
std::string written(const sibyl::index::VectorIndex& vectors, bool l2, bool compact) {
  using namespace sibyl;
  index::GraphSettings settings;
  settings.graph.metric = l2 ? index::Metric::kSquaredL2 : index::Metric::kInnerProduct;
  settings.compact = compact;
  std::string bytes;
  (void)index::write_graph_index(vectors, settings,
                                 [&bytes](std::string_view part) -> Result<void> {
                                   bytes += part;
                                   return {};
                                 });
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  static const std::shared_ptr<const index::VectorIndex> vectors = make_vectors();
  static const std::vector<std::string> good = {
      written(*vectors, false, false), written(*vectors, true, false),
      written(*vectors, false, true), written(*vectors, true, true)};
  const std::string& chosen = good[size > 3 ? data[3] % good.size() : 0];
  for (std::string bytes :
       {std::string(reinterpret_cast<const char*>(data), size), patched(chosen, data, size)}) {
    fuzz::seal_checksums(bytes);
    const auto opened =
        index::open_graph_index(index::memory_view(std::move(bytes)), "fuzz", vectors);
    if (opened) {
      std::vector<index::VectorHit> hits;
      const index::RowSet all(vectors->rows(), true);
      // A quarter of the rows that lie together: a walk inside the filter.
      index::RowSet some(vectors->rows());
      for (size_t row = 0; row < vectors->rows() / 4; ++row) {
        some.insert(row);
      }
      const std::array<const index::RowSet*, 3> filters = {nullptr, &all, &some};
      for (const index::RowSet* allowed : filters) {
        (*opened)->search_with(vectors->vectors_of(3), 2, allowed, {.effort = 2}, hits);
      }
    }
  }
  return 0;
}
