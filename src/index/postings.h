#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "index/row_set.h"
#include "text/analyzer.h"

namespace sibyl::index {

/// Rows that hold a term and how often, ascending by row.
struct Posting {
  uint32_t row = 0;
  uint32_t frequency = 0;
};

/// Terms of one text with their counts, sorted by term; and the text's length in terms.
struct TermCounts {
  std::vector<std::pair<std::string, uint32_t>> counts;
  uint32_t length = 0;
};

/// Counts the analysed terms of a text.
TermCounts count_terms(const std::vector<text::Term>& terms);

class PostingsList;

/// The postings of one text field of one segment. Immutable, thread-safe.
class Postings {
 public:
  virtual ~Postings() = default;
  virtual size_t rows() const = 0;
  virtual size_t terms() const = 0;
  virtual uint64_t total_length() const = 0;
  virtual uint32_t length(uint32_t row) const = 0;
  /// Of every row.
  virtual std::span<const uint32_t> lengths() const = 0;
  /// The terms in byte order; `number` is below terms().
  virtual std::string_view term(size_t number) const = 0;
  /// Rows that hold the term, 0 when it is unknown.
  virtual uint32_t document_frequency(std::string_view term) const = 0;
  /// Those of them that are in `live`.
  virtual uint32_t document_frequency(std::string_view term, const RowSet& live) const = 0;
  /// The term's blocks, for a search that skips (internal/postings_list.h).
  virtual PostingsList list(std::string_view term) const = 0;
  /// Appends the term's postings to `out` (nothing when the term is unknown).
  virtual void read(std::string_view term, std::vector<Posting>& out) const = 0;
  /// How often the term stands in given rows (ascending), 0 where it does not.
  virtual void frequencies(std::string_view term, std::span<const uint32_t> rows,
                           std::span<uint32_t> out) const = 0;
};

/// Builds a postings file (docs/formats/postings.md) in row order.
class PostingsBuilder {
 public:
  PostingsBuilder();
  ~PostingsBuilder();
  void add_row(const TermCounts& terms);
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A source of `merge_postings`: rows outside of `keep` (null: none) are left out.
struct PostingsPart {
  const Postings* postings = nullptr;
  const RowSet* keep = nullptr;
};
/// One postings file of the kept rows of all parts laid end to end.
std::string merge_postings(std::span<const PostingsPart> parts);

/// DataLoss with the path when the checksum or any offset is wrong.
Result<std::unique_ptr<Postings>> open_postings(std::shared_ptr<const base::FileView> file,
                                                const std::string& path);

}  // namespace sibyl::index
