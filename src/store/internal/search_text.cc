#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bytes.h"
#include "index/bm25.h"
#include "store/internal/state_snapshot.h"

namespace sibyl::store {
namespace {

/// One term in one field: a list of rows, over all segments and the tail.
struct QueryList {
  size_t field = 0;
  std::string_view term;
  index::Bm25Share share;
  std::vector<TailPosting> tail;  ///< live rows
};

/// Live rows of the sealed segments that hold the term.
uint64_t sealed_frequency(const CollectionState& state, size_t field, std::string_view term) {
  uint64_t rows = 0;
  for (const SegmentState& segment : state.segments) {
    const index::Postings& postings = *segment.postings[field];
    rows += segment.live == nullptr ? postings.document_frequency(term)
                                    : postings.document_frequency(term, *segment.live);
  }
  return rows;
}

/// The lists of a question. Statistics are of all live rows, and sums of shares are exact in any
/// order, so a row's score has the same bits wherever it lies.
std::vector<QueryList> prepare(const CollectionState& state, std::span<const FieldBoost> fields,
                               std::span<const QueryTerm> terms) {
  const index::Bm25 bm25;
  std::vector<QueryList> lists;
  std::vector<double> factors;
  double factor_sum = 0;
  std::vector<std::vector<TailPosting>> tails;
  for (const FieldBoost& field : fields) {
    for (const QueryTerm& term : terms) {
      tails.emplace_back();
      state.tail.read(field.field, term.text, base::hash64(term.text), tails.back());
      const uint64_t rows = tails.back().size() + sealed_frequency(state, field.field, term.text);
      factors.push_back(field.boost * term.weight * bm25.inverse_frequency(state.live_rows, rows));
      factor_sum += rows > 0 ? std::abs(factors.back()) : 0;
    }
  }
  size_t number = 0;
  for (const FieldBoost& field : fields) {
    const double average_length = state.live_rows == 0
                                      ? 0
                                      : static_cast<double>(state.text_lengths[field.field]) /
                                            static_cast<double>(state.live_rows);
    for (const QueryTerm& term : terms) {
      lists.push_back({field.field, term.text,
                       index::Bm25Share(bm25, factors[number], average_length, factor_sum),
                       std::move(tails[number])});
      ++number;
    }
  }
  return lists;
}

uint64_t key_of(RowRef ref) {
  return uint64_t{ref.segment} << 32 | ref.row;
}

std::vector<index::RankedTerm> terms_in(const SegmentState& segment,
                                        std::span<const QueryList> lists) {
  std::vector<index::RankedTerm> terms;
  for (const QueryList& list : lists) {
    terms.push_back({segment.postings[list.field].get(), list.term, list.share});
  }
  return terms;
}

/// `allowed` is null when the tail has no rows.
void search_tail(const Tail& tail, uint32_t number, std::span<const QueryList> lists,
                 const index::RowSet* allowed, simd::TopK& best) {
  if (allowed == nullptr) {
    return;
  }
  std::vector<double> scores(tail.rows, 0);
  index::RowSet found(tail.rows);
  for (const QueryList& list : lists) {
    for (const TailPosting& posting : list.tail) {
      scores[posting.row] += list.share.of(posting.frequency, posting.length);
      found.insert(posting.row);
    }
  }
  found.intersect(*allowed);
  found.for_each([&](size_t at) {
    const auto row = static_cast<uint32_t>(at);
    best.add(static_cast<float>(scores[row]), key_of({number, row}));
  });
}

/// Fills in the scores of hits that lie in one sealed segment; `order` holds their places,
/// ascending by row.
void score_segment(const SegmentState& segment, std::span<const QueryList> lists,
                   std::span<const size_t> order, std::vector<Hit>& hits) {
  std::vector<uint32_t> rows;
  for (const size_t place : order) {
    rows.push_back(hits[place].ref.row);
  }
  std::vector<uint32_t> frequencies(rows.size());
  std::vector<double> scores(rows.size(), 0);
  for (const QueryList& list : lists) {
    const index::Postings& postings = *segment.postings[list.field];
    postings.frequencies(list.term, rows, frequencies);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (frequencies[i] > 0) {
        scores[i] += list.share.of(frequencies[i], postings.length(rows[i]));
      }
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    hits[order[i]].score = static_cast<float>(scores[i]);
  }
}

void score_tail(std::span<const QueryList> lists, std::span<const size_t> order,
                std::vector<Hit>& hits) {
  for (const size_t place : order) {
    double score = 0;
    for (const QueryList& list : lists) {
      const auto found = std::lower_bound(
          list.tail.begin(), list.tail.end(), hits[place].ref.row,
          [](const TailPosting& posting, uint32_t row) { return posting.row < row; });
      if (found != list.tail.end() && found->row == hits[place].ref.row) {
        score += list.share.of(found->frequency, found->length);
      }
    }
    hits[place].score = static_cast<float>(score);
  }
}

}  // namespace

Result<void> StateSnapshot::check_terms(std::span<const FieldBoost> fields,
                                        std::span<const QueryTerm> terms) const {
  for (const FieldBoost& field : fields) {
    if (field.field >= state_.schema->text_fields.size()) {
      return fail(Code::InvalidArgument, "text field {} is not there; the collection has {}",
                  field.field, state_.schema->text_fields.size());
    }
    if (!(std::abs(field.boost) <= kQueryWeightMax)) {
      return fail(Code::InvalidArgument, "field '{}' has the boost {}; possible are {} to {}",
                  state_.schema->text_fields[field.field], field.boost, -kQueryWeightMax,
                  kQueryWeightMax);
    }
  }
  if (terms.size() * fields.size() > kQueryTermsMax) {
    return fail(Code::TooLarge,
                "the question has {} terms in {} fields; at most {} in all are searched",
                terms.size(), fields.size(), kQueryTermsMax);
  }
  for (const QueryTerm& term : terms) {
    if (!(std::abs(term.weight) <= kQueryWeightMax)) {
      return fail(Code::InvalidArgument, "term '{}' has the weight {}; possible are {} to {}",
                  term.text, term.weight, -kQueryWeightMax, kQueryWeightMax);
    }
  }
  return {};
}

Result<std::vector<Hit>> StateSnapshot::search_text(std::span<const FieldBoost> fields,
                                                    std::span<const QueryTerm> terms, size_t k,
                                                    const Selection* selection) const {
  Result<void> checked = check_terms(fields, terms);
  if (checked) {
    checked = check_search(k, selection);
  }
  if (!checked) {
    return pass_on(checked);
  }
  if (k == 0) {
    return std::vector<Hit>();
  }
  const std::vector<QueryList> lists = prepare(state_, fields, terms);
  simd::TopK best(k);
  // Segments and the tail ascend by sequence, as their rows do, so keys order equal scores.
  for (uint32_t i = 0; i < tail_number(); ++i) {
    const std::vector<index::RankedTerm> ranked = terms_in(state_.segments[i], lists);
    index::rank_rows(ranked, allowed(i, selection), key_of({i, 0}), best);
  }
  search_tail(state_.tail, tail_number(), lists, allowed(tail_number(), selection), best);
  std::vector<Hit> hits;
  for (const simd::Scored& scored : best.take()) {
    const RowRef ref{static_cast<uint32_t>(scored.key >> 32), static_cast<uint32_t>(scored.key)};
    hits.push_back({ref, sequence_of(ref), 0, scored.score});
  }
  return hits;
}

Result<std::vector<Hit>> StateSnapshot::score_text(std::span<const FieldBoost> fields,
                                                   std::span<const QueryTerm> terms,
                                                   std::span<const RowRef> rows) const {
  Result<void> checked = check_terms(fields, terms);
  if (checked) {
    checked = check_rows(rows);
  }
  if (!checked) {
    return pass_on(checked);
  }
  const std::vector<QueryList> lists = prepare(state_, fields, terms);
  std::vector<Hit> hits;
  for (const RowRef& ref : rows) {
    hits.push_back({ref, sequence_of(ref), 0, 0});
  }
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rows[a] < rows[b]; });
  for (size_t begin = 0; begin < order.size();) {
    const uint32_t segment = rows[order[begin]].segment;
    size_t end = begin;
    while (end < order.size() && rows[order[end]].segment == segment) {
      ++end;
    }
    const std::span<const size_t> part = std::span(order).subspan(begin, end - begin);
    if (segment < tail_number()) {
      score_segment(state_.segments[segment], lists, part, hits);
    } else {
      score_tail(lists, part, hits);
    }
    begin = end;
  }
  return hits;
}

}  // namespace sibyl::store
