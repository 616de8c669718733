#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "changed_file.h"
#include "index/memory_view.h"
#include "index/vector_index.h"

namespace {

using namespace sibyl;

/// Rows of none, one, two and several hundred vectors.
std::string make_file() {
  index::VectorFileBuilder builder(3);
  for (size_t row = 0; row < 12; ++row) {
    std::vector<float> vectors((row == 7 ? 300 : row % 3) * 3);
    for (size_t i = 0; i < vectors.size(); ++i) {
      vectors[i] = static_cast<float>((row * 31 + i * 17) % 23) - 11.0F;
    }
    if (!builder.add_row(vectors)) {
      return {};
    }
  }
  return builder.finish();
}

/// `later`: the numbers are not checked when it is opened.
void try_open(const std::string& bytes, bool later) {
  const auto opened = index::open_exact_index(index::memory_view(bytes), "fuzz", later);
  if (!opened) {
    return;
  }
  const index::VectorIndex& file = **opened;
  const std::vector<float> query(file.dimension(), 0.5F);
  std::vector<index::VectorHit> hits;
  file.search(query, 10, nullptr, hits);
  const index::RowSet all(file.rows(), true);
  file.search(query, 10, &all, hits);
  for (uint32_t row = 0; row < file.rows(); ++row) {
    static_cast<void>(file.vectors_of(row).size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string right = make_file();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const bool later : {false, true}) {
    try_open(bytes, later);
    try_open(fuzz::sealed_file(data, size), later);
    try_open(fuzz::change_file(right, data, size), later);
  }
  return 0;
}
