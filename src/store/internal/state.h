#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/postings.h"
#include "index/row_set.h"
#include "index/vector_index.h"
#include "store/internal/damage.h"
#include "store/internal/memory_budget.h"
#include "store/internal/segment.h"
#include "store/internal/stacked_vectors.h"
#include "store/internal/tail.h"
#include "store/schema.h"
#include "text/analyzer.h"

namespace sibyl::store {

/// A sealed segment as one snapshot sees it: the files are shared, the live rows are its own.
struct SegmentState {
  uint64_t number = 0;
  std::shared_ptr<const Segment> segment;
  std::vector<std::shared_ptr<const index::Postings>> postings;    ///< one a text field
  std::vector<std::shared_ptr<const index::VectorIndex>> vectors;  ///< one a vector field
  std::shared_ptr<const index::RowSet> live;                       ///< null: all
  uint32_t live_rows = 0;

  bool is_live(uint32_t row) const { return live == nullptr || live->contains(row); }
};

/// An index that is made from the vectors of neighbouring segments laid end to end; the others, and
/// the tail, are compared vector by vector.
struct DerivedState {
  std::string name;  ///< of its file
  size_t field = 0;
  std::vector<uint64_t> segments;  ///< numbers of those that it covers
  size_t first = 0;                ///< where they begin in the state
  std::shared_ptr<const StackedVectors> vectors;
  std::shared_ptr<const index::VectorIndex> index;
  std::shared_ptr<const MemoryBudget::Share> memory;
};

/// Everything that a snapshot shows, as a value: copies share what does not change.
struct CollectionState {
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const text::Analyzer> analyzer;
  std::string settings;
  std::shared_ptr<Damage> damage;
  std::vector<SegmentState> segments;  ///< ascending by sequence
  std::vector<DerivedState> derived;
  Tail tail;
  uint64_t sequence = 0;
  uint64_t live_rows = 0;
  std::vector<uint64_t> text_lengths;  ///< terms of the live rows, one a text field
};

}  // namespace sibyl::store
