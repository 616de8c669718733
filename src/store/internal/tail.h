#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/postings.h"
#include "index/row_set.h"
#include "store/internal/tail_codes.h"
#include "store/row.h"
#include "store/schema.h"

namespace sibyl::store {

/// The terms of one text of a tail row, found by hash.
class TailTerms {
 public:
  explicit TailTerms(index::TermCounts terms);
  const index::TermCounts& terms() const { return terms_; }
  uint32_t length() const { return terms_.length; }
  /// 0 when the term is not there; `hash` is hash64 of it.
  uint32_t frequency(std::string_view term, uint64_t hash) const;
  /// Calls visit(hash, place in terms().counts) for every term.
  template <class Visit>
  void for_each_hash(const Visit& visit) const {
    for (const Place& place : places_) {
      visit(place.hash, place.number);
    }
  }

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

/// A row of the tail that holds a term: how often, and how many terms it has in all.
struct TailPosting {
  uint32_t row = 0;
  uint32_t frequency = 0;
  uint32_t length = 0;
};

/// The terms of one text field of a full block, each with its rows. Immutable; shows terms of the
/// rows it was made of.
class TailBlockTerms {
 public:
  TailBlockTerms(std::span<const std::shared_ptr<const TailRow>> rows, size_t field);
  /// The rows of a term, ascending and counted from the block's first; `hash` is hash64 of it.
  std::span<const TailPosting> find(std::string_view term, uint64_t hash) const;

 private:
  struct Group {
    std::string_view term;
    uint32_t begin = 0;  ///< in postings_, up to the next group's
  };
  std::vector<uint64_t> hashes_;  ///< of the groups, ascending
  std::vector<Group> groups_;     ///< one a term, and one that ends the last
  std::vector<TailPosting> postings_;
};

/// Few, so that a block which is not full yet is looked through in no time.
inline constexpr uint32_t kTailBlockRows = 64;

/// Slots are filled in order by the one writer, each before a tail that counts it is published; the
/// terms and codes with the last one.
struct TailBlock {
  std::array<std::shared_ptr<const TailRow>, kTailBlockRows> rows;
  std::vector<TailBlockTerms> terms;  ///< one a text field
  std::vector<TailBlockCodes> codes;  ///< one a vector field
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
  /// Fills the next slot and counts the row; who may call it: see TailBlock. `live` and `live_rows`
  /// stay as they are.
  void append(std::shared_ptr<const TailRow> row, const Schema& schema);
  /// Appends the live rows that hold a term of a text field, ascending; `hash` is hash64 of it.
  void read(size_t field, std::string_view term, uint64_t hash,
            std::vector<TailPosting>& out) const;
};

}  // namespace sibyl::store
