#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "index/bm25.h"
#include "index/memory_view.h"
#include "seal_checksums.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  for (const bool sealed : {false, true}) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (sealed) {
      fuzz::seal_checksums(bytes);
    }
    const auto opened = index::open_postings(index::memory_view(std::move(bytes)), "fuzz");
    if (!opened) {
      continue;
    }
    std::vector<uint32_t> rows((*opened)->rows());
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<uint32_t> counts(rows.size());
    std::vector<index::Posting> postings;
    for (size_t i = 0; i < (*opened)->terms(); ++i) {
      postings.clear();
      (*opened)->read((*opened)->term(i), postings);
      (*opened)->frequencies((*opened)->term(i), rows, counts);
    }
    std::vector<index::RankedTerm> terms;
    for (size_t i = 0; i < std::min<size_t>((*opened)->terms(), 8); ++i) {
      terms.push_back({opened->get(), (*opened)->term(i), index::Bm25Share({}, 1, 7, 8)});
    }
    simd::TopK best(3);
    index::rank_rows(terms, nullptr, 0, best);
    static_cast<void>(best.take().size());
    const std::vector<index::PostingsPart> parts = {{opened->get(), nullptr}};
    static_cast<void>(index::merge_postings(parts).size());
  }
  return 0;
}
