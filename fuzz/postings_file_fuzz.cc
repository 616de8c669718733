#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "changed_file.h"
#include "index/bm25.h"
#include "index/memory_view.h"

namespace {

using namespace sibyl;

/// Blocks of several hundred rows, of one row, and a term in every row.
std::string make_file() {
  index::PostingsBuilder builder;
  for (uint32_t row = 0; row < 300; ++row) {
    index::TermCounts terms;
    terms.counts.emplace_back("all", 1 + row % 5);
    if (row == 77) {
      terms.counts.emplace_back("once", 200);
    }
    if (row % 3 == 0) {
      terms.counts.emplace_back("some", 1);
    }
    for (const auto& [term, count] : terms.counts) {
      terms.length += count;
    }
    builder.add_row(terms);
  }
  return builder.finish();
}

void try_open(std::string bytes) {
  const auto opened = index::open_postings(index::memory_view(std::move(bytes)), "fuzz");
  if (!opened) {
    return;
  }
  const index::Postings& file = **opened;
  std::vector<uint32_t> rows(file.rows());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<uint32_t> counts(rows.size());
  index::RowSet live(file.rows(), true);
  if (file.rows() > 4) {
    live.erase(4);
  }
  std::vector<index::Posting> postings;
  std::vector<index::RankedTerm> terms;
  for (size_t i = 0; i < file.terms(); ++i) {
    postings.clear();
    file.read(file.term(i), postings);
    file.frequencies(file.term(i), rows, counts);
    static_cast<void>(file.document_frequency(file.term(i), live));
    if (i < 8) {
      terms.push_back({&file, file.term(i), index::Bm25Share({}, 1, 7, 8)});
    }
  }
  for (const index::RowSet* allowed :
       {static_cast<const index::RowSet*>(nullptr), static_cast<const index::RowSet*>(&live)}) {
    simd::TopK best(3);
    index::rank_rows(terms, allowed, 0, best);
    static_cast<void>(best.take().size());
    const std::vector<index::PostingsPart> parts = {{&file, allowed}, {&file, nullptr}};
    static_cast<void>(index::merge_postings(parts).size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string right = make_file();
  try_open(std::string(reinterpret_cast<const char*>(data), size));
  try_open(fuzz::sealed_file(data, size));
  try_open(fuzz::change_file(right, data, size));
  return 0;
}
