#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/postings.h"
#include "index/row_set.h"
#include "store/row.h"

namespace sibyl::store {

/// The terms of one text of a tail row, found by hash.
class TailTerms {
 public:
  explicit TailTerms(index::TermCounts terms);
  const index::TermCounts& terms() const { return terms_; }
  uint32_t length() const { return terms_.length; }
  /// 0 when the term is not there; `hash` is hash64 of it.
  uint32_t frequency(std::string_view term, uint64_t hash) const;

 private:
  struct Place {
    uint64_t hash = 0;
    uint32_t number = 0;
  };
  index::TermCounts terms_;
  std::vector<Place> places_;  ///< by hash
};

/// A row that is not sealed yet; never changed once a snapshot shows it.
struct TailRow {
  uint64_t sequence = 0;
  int64_t row_key = 0;
  uint64_t id_hash = 0;
  Row row;
  std::string typed;             ///< metadata, compact
  std::vector<TailTerms> texts;  ///< one a text field
};

inline constexpr uint32_t kTailBlockRows = 256;

/// Slots are filled in order by the one writer, each before a tail that counts it is published.
struct TailBlock {
  std::array<std::shared_ptr<const TailRow>, kTailBlockRows> rows;
};

/// The rows of the tail as one snapshot sees them. A value: copies share the blocks.
struct Tail {
  std::vector<std::shared_ptr<TailBlock>> blocks;
  uint32_t rows = 0;
  uint32_t live_rows = 0;
  std::shared_ptr<const index::RowSet> live;  ///< of size `rows`; null when there are none

  const TailRow& row(uint32_t number) const {
    return *blocks[number / kTailBlockRows]->rows[number % kTailBlockRows];
  }
};

}  // namespace sibyl::store
