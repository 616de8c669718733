#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "index/memory_view.h"
#include "index/vector_index.h"
#include "seal_checksums.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  for (const bool sealed : {false, true}) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (sealed) {
      fuzz::seal_checksums(bytes);
    }
    const auto opened = index::open_exact_index(index::memory_view(std::move(bytes)), "fuzz");
    if (opened) {
      const std::vector<float> query((*opened)->dimension(), 0.5F);
      std::vector<index::VectorHit> hits;
      (*opened)->search(query, 10, nullptr, hits);
      const index::RowSet all((*opened)->rows(), true);
      (*opened)->search(query, 10, &all, hits);
    }
  }
  return 0;
}
