#include "store/internal/state_snapshot.h"

#include <algorithm>
#include <queue>

#include "base/bytes.h"
#include "store/internal/filter_select.h"

namespace sibyl::store {

void keep_best(std::vector<Hit>& hits, size_t k) {
  const auto better = [](const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.sequence < b.sequence;
  };
  const auto end = hits.begin() + static_cast<ptrdiff_t>(std::min(k, hits.size()));
  std::partial_sort(hits.begin(), end, hits.end(), better);
  hits.erase(end, hits.end());
}

std::optional<RowRef> StateSnapshot::find(std::string_view id) const {
  const uint64_t hash = base::hash64(id);
  for (uint32_t row = state_.tail.rows; row > 0; --row) {
    const TailRow& at = state_.tail.row(row - 1);
    if (at.id_hash == hash && state_.tail.live->contains(row - 1) && at.row.id == id) {
      return RowRef{tail_number(), row - 1};
    }
  }
  for (size_t i = state_.segments.size(); i > 0; --i) {
    const SegmentState& segment = state_.segments[i - 1];
    std::optional<RowRef> found;
    segment.segment->find(id, hash, [&](uint32_t row) {
      if (segment.is_live(row)) {
        found = RowRef{static_cast<uint32_t>(i - 1), row};
      }
    });
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

bool StateSnapshot::is_live(RowRef ref) const {
  if (ref.segment == tail_number()) {
    return ref.row < state_.tail.rows && state_.tail.live->contains(ref.row);
  }
  return ref.segment < tail_number() && ref.row < state_.segments[ref.segment].segment->rows() &&
         state_.segments[ref.segment].is_live(ref.row);
}

uint64_t StateSnapshot::sequence_of(RowRef ref) const {
  return ref.segment == tail_number() ? state_.tail.row(ref.row).sequence
                                      : state_.segments[ref.segment].segment->sequence(ref.row);
}

RowView StateSnapshot::view(RowRef ref) const {
  RowView view;
  view.ref = ref;
  if (ref.segment == tail_number()) {
    const TailRow& tail = state_.tail.row(ref.row);
    view.sequence = tail.sequence;
    view.row_key = tail.row_key;
    view.id = tail.row.id;
    view.content_hash = tail.row.content_hash;
    view.source = tail.row.source;
    view.passages = tail.row.passages;
    view.metadata = tail.row.metadata;
    view.texts.assign(tail.row.texts.begin(), tail.row.texts.end());
    return view;
  }
  const Segment& segment = *state_.segments[ref.segment].segment;
  view.sequence = segment.sequence(ref.row);
  view.row_key = segment.row_key(ref.row);
  view.id = segment.id(ref.row);
  view.content_hash = segment.content_hash(ref.row);
  view.source = segment.column(ref.row, kSourceColumn);
  view.passages = segment.column(ref.row, kPassagesColumn);
  view.metadata = segment.column(ref.row, kMetadataColumn);
  for (uint32_t i = 0; i < state_.schema->text_fields.size(); ++i) {
    view.texts.push_back(segment.column(ref.row, kFirstTextColumn + i));
  }
  return view;
}

Result<RowView> StateSnapshot::row(RowRef ref) const {
  if (Result<void> whole = state_.damage->check(); !whole) {
    return pass_on(whole);
  }
  if (!is_live(ref)) {
    return fail(Code::NotFound, "row {} of segment {} is not in this snapshot", ref.row,
                ref.segment);
  }
  return view(ref);
}

Result<void> StateSnapshot::check_rows(std::span<const RowRef> rows) const {
  if (Result<void> whole = state_.damage->check(); !whole) {
    return whole;
  }
  for (const RowRef& ref : rows) {
    if (!is_live(ref)) {
      return fail(Code::InvalidArgument,
                  "row {} of segment {} is not in this snapshot; references of another snapshot "
                  "mean nothing here",
                  ref.row, ref.segment);
    }
  }
  return {};
}

Result<void> StateSnapshot::check_search(size_t k, const Selection* selection) const {
  if (Result<void> whole = state_.damage->check(); !whole) {
    return whole;
  }
  if (k > kSearchTopMax) {
    return fail(Code::TooLarge, "{} best rows were asked for; at most {} are given", k,
                kSearchTopMax);
  }
  if (selection != nullptr && dynamic_cast<const RowSelection&>(*selection).owner() != this) {
    return fail(Code::InvalidArgument, "the selection was made by another snapshot");
  }
  return {};
}

const index::RowSet* StateSnapshot::allowed(size_t segment, const Selection* selection) const {
  if (selection != nullptr) {
    return &dynamic_cast<const RowSelection&>(*selection).set(segment);
  }
  return segment == state_.segments.size() ? state_.tail.live.get()
                                           : state_.segments[segment].live.get();
}

Result<std::shared_ptr<const Selection>> StateSnapshot::select(const Filter& filter) const {
  if (Result<void> whole = state_.damage->check(); !whole) {
    return pass_on(whole);
  }
  const FilterTree& tree = tree_of(filter);
  std::vector<index::RowSet> sets;
  uint64_t rows = 0;
  for (const SegmentState& segment : state_.segments) {
    index::RowSet set = select_rows(tree, *segment.segment);
    if (segment.live != nullptr) {
      set.intersect(*segment.live);
    }
    rows += set.count();
    sets.push_back(std::move(set));
  }
  index::RowSet tail(state_.tail.rows);
  for (uint32_t row = 0; row < state_.tail.rows; ++row) {
    if (state_.tail.live->contains(row) && tree.matches_typed(state_.tail.row(row).typed)) {
      tail.insert(row);
      ++rows;
    }
  }
  sets.push_back(std::move(tail));
  return std::make_shared<const RowSelection>(this, std::move(sets), rows);
}

namespace {

/// Walks the live rows of one segment, or of the sorted tail, in id order.
struct ListCursor {
  uint32_t segment = 0;
  uint32_t place = 0;
  std::string_view id;
  RowRef ref;
};

}  // namespace

Result<std::vector<RowRef>> StateSnapshot::list(std::string_view after_id, size_t limit) const {
  if (Result<void> whole = state_.damage->check(); !whole) {
    return pass_on(whole);
  }
  std::vector<uint32_t> tail;
  for (uint32_t row = 0; row < state_.tail.rows; ++row) {
    if (state_.tail.live->contains(row) && state_.tail.row(row).row.id > after_id) {
      tail.push_back(row);
    }
  }
  std::sort(tail.begin(), tail.end(), [this](uint32_t a, uint32_t b) {
    const int difference = state_.tail.row(a).row.id.compare(state_.tail.row(b).row.id);
    return difference != 0 ? difference < 0 : a < b;
  });
  const auto advance = [&](ListCursor& cursor) {
    if (cursor.segment == tail_number()) {
      if (cursor.place == tail.size()) {
        return false;
      }
      cursor.ref = {cursor.segment, tail[cursor.place++]};
      cursor.id = state_.tail.row(cursor.ref.row).row.id;
      return true;
    }
    const SegmentState& segment = state_.segments[cursor.segment];
    while (cursor.place < segment.segment->rows()) {
      const uint32_t row = segment.segment->row_by_id(cursor.place++);
      if (segment.is_live(row)) {
        cursor.ref = {cursor.segment, row};
        cursor.id = segment.segment->id(row);
        return true;
      }
    }
    return false;
  };
  const auto later = [](const ListCursor& a, const ListCursor& b) {
    return a.id != b.id ? a.id > b.id : a.ref > b.ref;
  };
  std::priority_queue<ListCursor, std::vector<ListCursor>, decltype(later)> heads(later);
  for (uint32_t i = 0; i <= tail_number(); ++i) {
    ListCursor cursor;
    cursor.segment = i;
    cursor.place = i < tail_number() && !after_id.empty()
                       ? state_.segments[i].segment->place_of(after_id, true)
                       : 0;
    if (advance(cursor)) {
      heads.push(cursor);
    }
  }
  std::vector<RowRef> rows;
  std::string_view last;
  // Rows of one id stay together, so that a page may end after any of them.
  while (!heads.empty() && (rows.size() < limit || (limit > 0 && heads.top().id == last))) {
    ListCursor cursor = heads.top();
    heads.pop();
    rows.push_back(cursor.ref);
    last = cursor.id;
    if (advance(cursor)) {
      heads.push(cursor);
    }
  }
  return rows;
}

std::vector<QueryTerm> StateSnapshot::analyze(std::string_view question) const {
  std::vector<text::Term> terms;
  state_.analyzer->analyze(question, terms);
  std::vector<QueryTerm> merged;
  for (text::Term& term : terms) {
    const auto same = std::find_if(merged.begin(), merged.end(),
                                   [&](const QueryTerm& known) { return known.text == term.text; });
    if (same != merged.end()) {
      same->weight += 1;
    } else if (merged.size() < kQueryTermsMax) {
      merged.push_back({std::move(term.text), 1});
    }
  }
  return merged;
}

}  // namespace sibyl::store
