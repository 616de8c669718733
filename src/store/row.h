#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sibyl::store {

/// A row to be written. Rows are documents. Texts and vectors stand in the schema's order.
struct Row {
  std::string id;                  ///< 1 to 1,024 bytes of UTF-8
  uint64_t content_hash = 0;       ///< of everything the caller derives the row from
  std::string source;              ///< the document's JSON, given back as it was
  std::string passages;            ///< opaque to the store: the answer room's chunk table
  std::string metadata;            ///< JSON object that filters see; may be empty
  std::vector<std::string> texts;  ///< one a text field
  std::vector<std::vector<float>>
      vectors;  ///< one a vector field, [parts x dimension], may be empty
};

/// Where a row lies within one snapshot; meaningless in another.
struct RowRef {
  uint32_t segment = 0;
  uint32_t row = 0;
  friend auto operator<=>(const RowRef&, const RowRef&) = default;
};

/// A stored row as a snapshot shows it. Views live as long as the snapshot.
struct RowView {
  RowRef ref;
  uint64_t sequence = 0;  ///< of the write that put it; grows; the tie-break of every ranking
  int64_t row_key = 0;    ///< for wires that need an integer key; never reused in a collection
  std::string_view id;
  uint64_t content_hash = 0;
  std::string_view source;
  std::string_view passages;
  std::string_view metadata;
  std::vector<std::string_view> texts;
};

/// A row that a retrieval found, or that was scored.
struct Hit {
  RowRef ref;
  uint64_t sequence = 0;
  uint32_t part = 0;  ///< best vector of the row (0 for text)
  float score = 0;
};

/// An analysed question term.
struct QueryTerm {
  std::string text;
  double weight = 1;
};

/// A text field that a question is asked of, and how much it counts there.
struct FieldBoost {
  size_t field = 0;
  double boost = 1;
};

}  // namespace sibyl::store
