#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "index/checked_file.h"
#include "index/row_set.h"

namespace sibyl::index {

/// A row found or scored: its best vector is the row's `part`-th. Rows without vectors score
/// kNoVector.
struct VectorHit {
  uint32_t row = 0;
  uint32_t part = 0;
  float score = 0;
};
inline constexpr float kNoVector = -3.4e38F;

/// How hard one search tries. Indexes that are exact take no notice.
struct SearchOptions {
  /// Candidates that a walk keeps; 0: what the index calibrated when it was built. More is slower
  /// and finds more.
  size_t effort = 0;
  /// Where `effort` is 0: the share of the true neighbours to aim at (0.9 to 0.999), by the index's
  /// own calibration; 0: its default, about 0.985.
  float recall_goal = 0;
  /// Rows of a lower score may be left out: so many good ones are known from elsewhere.
  float floor = -std::numeric_limits<float>::infinity();
};

/// Inner-product search over rows with 0..n vectors each; rows are numbered from 0 within what the
/// index covers (one segment or several laid end to end; the store translates). Immutable once
/// built, thread-safe. Equal scores: the lower row first.
class VectorIndex {
 public:
  virtual ~VectorIndex() = default;
  virtual size_t rows() const = 0;
  virtual size_t vectors() const = 0;
  virtual size_t dimension() const = 0;
  virtual std::string_view kind() const = 0;  ///< "exact", later "flat", "graph"
  /// The k best distinct rows, best first, decided inside the walk; `allowed` (may be null) holds
  /// the rows that may be answered: live ones under the filter.
  virtual void search(std::span<const float> query, size_t k, const RowSet* allowed,
                      std::vector<VectorHit>& out) const = 0;
  /// The same with a choice of effort.
  virtual void search_with(std::span<const float> query, size_t k, const RowSet* allowed,
                           const SearchOptions& /*options*/, std::vector<VectorHit>& out) const {
    search(query, k, allowed, out);
  }
  /// Bytes of memory of its own, and bytes that are mapped from files and may be dropped.
  virtual size_t resident_bytes() const { return 0; }
  virtual size_t mapped_bytes() const { return 0; }
  /// Exact scores of given rows, in their order.
  virtual void score(std::span<const float> query, std::span<const uint32_t> rows,
                     std::span<VectorHit> out) const = 0;
  /// The vectors of a row, [parts x dimension]; empty when it has none.
  virtual std::span<const float> vectors_of(uint32_t row) const = 0;
};

/// Collects vectors row by row for a vector file (docs/formats/vectors.md) and opens such a file as
/// the exact index.
class VectorFileBuilder {
 public:
  explicit VectorFileBuilder(size_t dimension);
  /// `vectors` is [parts x dimension], empty for a row without. InvalidData on a wrong length or
  /// NaN.
  Result<void> add_row(std::span<const float> vectors);
  size_t rows() const { return first_vector_.size() - 1; }
  /// The file's bytes, checksummed.
  std::string finish();
  /// The same into a sink, without a copy in memory.
  Result<void> write(const ByteSink& sink) const;

 private:
  size_t dimension_;
  std::vector<uint32_t> first_vector_;
  std::vector<float> data_;
};

/// Writes a vector file of rows that lie elsewhere, without collecting them: row i has `parts[i]`
/// vectors, which `vectors_of(i)` gives in ascending order of i. TooLarge above 2^32 - 1 vectors.
Result<void> write_vector_file(size_t dimension, std::span<const uint32_t> parts,
                               const std::function<std::span<const float>(size_t row)>& vectors_of,
                               const ByteSink& sink);
/// InvalidData when vectors are not [n x dimension] finite numbers.
Result<void> check_vectors(std::span<const float> vectors, size_t dimension);

/// DataLoss with the path when the checksum or any length is wrong.
/// With `later` the vectors themselves are not checked, as check_container will.
Result<std::unique_ptr<VectorIndex>> open_exact_index(std::shared_ptr<const base::FileView> file,
                                                      const std::string& path, bool later = false);

}  // namespace sibyl::index
