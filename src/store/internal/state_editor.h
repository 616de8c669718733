#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/collection.h"
#include "store/internal/state.h"

namespace sibyl::store {

/// Rows of the tail by hash of their id, dead ones among them. Belongs to the one writer.
using TailIds = std::unordered_multimap<uint64_t, uint32_t>;

TailIds index_tail(const Tail& tail);

/// Applies changes to a copy of a state. The tail's blocks are shared with the published state:
/// only slots past its rows are filled, so a dropped editor changes nothing that anyone sees.
/// Externally synchronised; one editor at a time a collection.
class StateEditor {
 public:
  StateEditor(const CollectionState& base, TailIds& ids);

  /// Sets the row's sequence, and its key unless it has one: the key of the row that it replaces,
  /// else its sequence.
  Outcome put(std::shared_ptr<TailRow> row, uint64_t sequence);
  Outcome remove(std::string_view id, uint64_t sequence);

  uint64_t live_rows() const { return state_.live_rows; }
  uint64_t sequence() const { return state_.sequence; }
  /// The state with all changes; the editor is done.
  CollectionState finish();

 private:
  /// Ends every live row of the id; gives their number and the last one's key.
  uint32_t kill(std::string_view id, uint64_t hash, int64_t& row_key);
  void kill_sealed(size_t segment, uint32_t row);
  void kill_tail(uint32_t row);
  bool is_live(size_t segment, uint32_t row) const;

  CollectionState state_;
  TailIds& ids_;
  std::vector<std::shared_ptr<index::RowSet>> changed_;  ///< own copies, one a segment or null
  index::RowSet tail_live_;
};

}  // namespace sibyl::store
