#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "index/postings.h"
#include "index/row_set.h"
#include "simd/top_k.h"

namespace sibyl::index {

/// Okapi BM25 in Lucene's form: idf = ln(1 + (N - df + 0.5) / (df + 0.5)), part =
/// tf / (tf + k1 (1 - b + b length / average)), k1 1.5, b 0.75. A row's score is the sum over the
/// question's terms of weight x idf x part.
struct Bm25 {
  double k1 = 1.5;
  double b = 0.75;
  double inverse_frequency(uint64_t rows, uint64_t rows_with_term) const;
  double term_part(double frequency, double length, double average_length) const;
};

/// Turns how often a term stands in a row into its share of the row's score. Shares are rounded to
/// a step of about 2^-51 of the largest score that the question can give: so a row's sum is exact,
/// and the same in any order of the terms. A plain value.
class Bm25Share {
 public:
  /// `factor` is weight x idf; `factor_sum` the sum of the absolute factors of the whole question,
  /// the same for every row that is compared.
  Bm25Share(const Bm25& bm25, double factor, double average_length, double factor_sum);
  double of(uint32_t frequency, uint32_t length) const {
    const double times = frequency;
    return rounded(factor_ * (times / (times + (base_ + slope_ * length))));
  }
  /// Not below the share of any row where the term stands at most so often and that is not shorter;
  /// nor below 0, the share of rows without the term.
  double bound(uint32_t frequency_max, uint32_t length_min) const;

 private:
  double rounded(double value) const { return (value + shift_) - shift_; }

  double factor_;
  double base_;
  double slope_;
  double shift_;  ///< its neighbours are one step away
};

/// A term of a question in the postings of one field of one segment.
struct RankedTerm {
  const Postings* postings = nullptr;  ///< the postings of all terms have the same rows
  std::string_view text;
  Bm25Share share;
};

/// Offers the rows of a segment that hold a term, and are in `allowed` (null: all), to `best`, with
/// the key first_key + row: all of them that could be among the best, whatever is skipped. Blocks
/// of rows whose bounds cannot beat the k-th best are not decoded (block-max MaxScore: Ding and
/// Suel, "Faster top-k document retrieval using block-max indexes", 2011; by windows of rows).
/// Keys of segments that are searched one after the other must ascend; `best` keeps at least one.
void rank_rows(std::span<const RankedTerm> terms, const RowSet* allowed, uint64_t first_key,
               simd::TopK& best);

}  // namespace sibyl::index
