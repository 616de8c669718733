#include "store/internal/state_editor.h"

#include "base/bytes.h"

namespace sibyl::store {

TailIds index_tail(const Tail& tail) {
  TailIds ids;
  for (uint32_t row = 0; row < tail.rows; ++row) {
    ids.emplace(tail.row(row).id_hash, row);
  }
  return ids;
}

StateEditor::StateEditor(const CollectionState& base, TailIds& ids)
    : state_(base),
      ids_(ids),
      changed_(base.segments.size()),
      tail_live_(base.tail.live == nullptr ? index::RowSet(0) : *base.tail.live) {}

bool StateEditor::is_live(size_t segment, uint32_t row) const {
  return changed_[segment] != nullptr ? changed_[segment]->contains(row)
                                      : state_.segments[segment].is_live(row);
}

void StateEditor::kill_sealed(size_t number, uint32_t row) {
  SegmentState& segment = state_.segments[number];
  if (changed_[number] == nullptr) {
    changed_[number] = segment.live != nullptr
                           ? std::make_shared<index::RowSet>(*segment.live)
                           : std::make_shared<index::RowSet>(segment.segment->rows(), true);
  }
  changed_[number]->erase(row);
  --segment.live_rows;
  --state_.live_rows;
  for (size_t field = 0; field < segment.postings.size(); ++field) {
    state_.text_lengths[field] -= segment.postings[field]->length(row);
  }
}

void StateEditor::kill_tail(uint32_t row) {
  tail_live_.erase(row);
  --state_.tail.live_rows;
  --state_.live_rows;
  const TailRow& dead = state_.tail.row(row);
  for (size_t field = 0; field < dead.texts.size(); ++field) {
    state_.text_lengths[field] -= dead.texts[field].length();
  }
}

uint32_t StateEditor::kill(std::string_view id, uint64_t hash, int64_t& row_key) {
  uint32_t killed = 0;
  for (size_t i = 0; i < state_.segments.size(); ++i) {
    const Segment& segment = *state_.segments[i].segment;
    segment.find(id, hash, [&](uint32_t row) {
      if (is_live(i, row)) {
        row_key = segment.row_key(row);
        kill_sealed(i, row);
        ++killed;
      }
    });
  }
  const auto [begin, end] = ids_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (tail_live_.contains(at->second) && state_.tail.row(at->second).row.id == id) {
      row_key = state_.tail.row(at->second).row_key;
      kill_tail(at->second);
      ++killed;
    }
  }
  return killed;
}

Outcome StateEditor::put(std::shared_ptr<TailRow> row, uint64_t sequence) {
  uint32_t killed = 0;
  int64_t key = static_cast<int64_t>(sequence);
  if (state_.schema->unique_ids) {
    killed = kill(row->row.id, row->id_hash, key);
  }
  row->sequence = sequence;
  if (row->row_key == 0) {
    row->row_key = key;
  }
  Tail& tail = state_.tail;
  const uint32_t number = tail.rows;
  ++tail.live_rows;
  ++state_.live_rows;
  tail_live_.grow(number + size_t{1});
  tail_live_.insert(number);
  for (size_t field = 0; field < row->texts.size(); ++field) {
    state_.text_lengths[field] += row->texts[field].length();
  }
  ids_.emplace(row->id_hash, number);
  tail.append(std::move(row), *state_.schema);
  state_.sequence = sequence;
  return killed > 0 ? Outcome::Updated : Outcome::Added;
}

Outcome StateEditor::remove(std::string_view id, uint64_t sequence) {
  int64_t key = 0;
  state_.sequence = sequence;
  return kill(id, base::hash64(id), key) > 0 ? Outcome::Deleted : Outcome::NotThere;
}

CollectionState StateEditor::finish() {
  for (size_t i = 0; i < changed_.size(); ++i) {
    if (changed_[i] != nullptr) {
      state_.segments[i].live = std::move(changed_[i]);
    }
  }
  if (state_.tail.rows > 0) {
    state_.tail.live = std::make_shared<const index::RowSet>(std::move(tail_live_));
  }
  return std::move(state_);
}

}  // namespace sibyl::store
