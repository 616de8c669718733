#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "changed_file.h"
#include "index/derived_index.h"
#include "index/memory_view.h"

namespace {

using namespace sibyl;

/// Vectors that the file under test claims to be made from: rows of none, one and two.
std::shared_ptr<const index::VectorIndex> make_vectors(size_t dimension) {
  index::VectorFileBuilder builder(dimension);
  for (size_t row = 0; row < 60; ++row) {
    std::vector<float> row_vectors(row % 3 * dimension);
    for (size_t i = 0; i < row_vectors.size(); ++i) {
      row_vectors[i] = static_cast<float>((row * 31 + i * 17) % 23) - 11.0F;
    }
    if (!builder.add_row(row_vectors)) {
      return nullptr;
    }
  }
  auto opened = index::open_exact_index(index::memory_view(builder.finish()), "vectors");
  return opened ? std::shared_ptr<const index::VectorIndex>(std::move(*opened)) : nullptr;
}

std::string make_file(const index::VectorIndex& vectors) {
  std::string bytes;
  const auto written =
      index::write_flat_index(vectors, {}, [&bytes](std::string_view part) -> Result<void> {
        bytes += part;
        return {};
      });
  return written ? bytes : std::string();
}

void try_open(std::string bytes, const std::shared_ptr<const index::VectorIndex>& vectors) {
  const auto opened = index::open_flat_index(index::memory_view(std::move(bytes)), "fuzz", vectors);
  if (!opened) {
    return;
  }
  const std::vector<float> query((*opened)->dimension(), 0.5F);
  std::vector<index::VectorHit> hits;
  (*opened)->search(query, 10, nullptr, hits);
  index::RowSet allowed((*opened)->rows(), true);
  allowed.erase(4);
  (*opened)->search(query, 100, &allowed, hits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto vectors = make_vectors(5);
  static const std::string right = make_file(*vectors);
  try_open(fuzz::sealed_file(data, size), vectors);
  try_open(fuzz::change_file(right, data, size), vectors);
  return 0;
}
