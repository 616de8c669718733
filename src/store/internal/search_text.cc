#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bytes.h"
#include "store/internal/state_snapshot.h"

namespace sibyl::store {
namespace {

/// What every score of one query shares. Sums are doubles taken in the order of the terms, so a
/// row's score has the same bits wherever it lies.
struct TextQuery {
  index::Bm25 bm25;
  double average_length = 0;
  std::vector<uint64_t> hashes;  ///< of the terms
  std::vector<double> factors;   ///< weight times inverse frequency

  double part(size_t term, uint32_t frequency, uint32_t length) const {
    return factors[term] * bm25.term_part(frequency, length, average_length);
  }
};

/// Live rows of the whole snapshot that hold the term.
uint64_t document_frequency(const CollectionState& state, size_t field, std::string_view term,
                            uint64_t hash) {
  uint64_t rows = 0;
  std::vector<index::Posting> postings;
  for (const SegmentState& segment : state.segments) {
    if (segment.live == nullptr) {
      rows += segment.postings[field]->document_frequency(term);
      continue;
    }
    postings.clear();
    segment.postings[field]->read(term, postings);
    rows += static_cast<uint64_t>(
        std::count_if(postings.begin(), postings.end(),
                      [&](const index::Posting& at) { return segment.live->contains(at.row); }));
  }
  for (uint32_t row = 0; row < state.tail.rows; ++row) {
    rows += state.tail.live->contains(row) &&
            state.tail.row(row).texts[field].frequency(term, hash) > 0;
  }
  return rows;
}

TextQuery prepare(const CollectionState& state, size_t field, std::span<const QueryTerm> terms) {
  TextQuery query;
  query.average_length = state.live_rows == 0 ? 0
                                              : static_cast<double>(state.text_lengths[field]) /
                                                    static_cast<double>(state.live_rows);
  for (const QueryTerm& term : terms) {
    query.hashes.push_back(base::hash64(term.text));
    const uint64_t rows = document_frequency(state, field, term.text, query.hashes.back());
    query.factors.push_back(term.weight * query.bm25.inverse_frequency(state.live_rows, rows));
  }
  return query;
}

/// Adds each term's part to the rows of a sealed segment that hold it.
void search_segment(const SegmentState& segment, size_t field, std::span<const QueryTerm> terms,
                    const TextQuery& query, const index::RowSet* allowed, uint32_t number,
                    std::vector<Hit>& hits) {
  const index::Postings& postings = *segment.postings[field];
  std::vector<double> scores(segment.segment->rows(), 0);
  index::RowSet found(segment.segment->rows());
  std::vector<index::Posting> read;
  for (size_t i = 0; i < terms.size(); ++i) {
    read.clear();
    postings.read(terms[i].text, read);
    for (const index::Posting& posting : read) {
      if (allowed == nullptr || allowed->contains(posting.row)) {
        scores[posting.row] += query.part(i, posting.frequency, postings.length(posting.row));
        found.insert(posting.row);
      }
    }
  }
  found.for_each([&](size_t at) {
    const auto row = static_cast<uint32_t>(at);
    hits.push_back(
        {{number, row}, segment.segment->sequence(row), 0, static_cast<float>(scores[row])});
  });
}

/// False when the row holds no term.
bool score_tail_row(const TailRow& row, size_t field, std::span<const QueryTerm> terms,
                    const TextQuery& query, float& score) {
  const TailTerms& text = row.texts[field];
  double sum = 0;
  bool any = false;
  for (size_t i = 0; i < terms.size(); ++i) {
    const uint32_t frequency = text.frequency(terms[i].text, query.hashes[i]);
    if (frequency > 0) {
      sum += query.part(i, frequency, text.length());
      any = true;
    }
  }
  score = static_cast<float>(sum);
  return any;
}

/// Fills in the scores of hits that lie in one sealed segment; `order` holds their places,
/// ascending by row.
void score_segment(const SegmentState& segment, size_t field, std::span<const QueryTerm> terms,
                   const TextQuery& query, std::span<const size_t> order, std::vector<Hit>& hits) {
  const index::Postings& postings = *segment.postings[field];
  std::vector<uint32_t> rows;
  for (const size_t place : order) {
    rows.push_back(hits[place].ref.row);
  }
  std::vector<uint32_t> frequencies(rows.size());
  std::vector<double> scores(rows.size(), 0);
  for (size_t i = 0; i < terms.size(); ++i) {
    postings.frequencies(terms[i].text, rows, frequencies);
    for (size_t j = 0; j < rows.size(); ++j) {
      if (frequencies[j] > 0) {
        scores[j] += query.part(i, frequencies[j], postings.length(rows[j]));
      }
    }
  }
  for (size_t j = 0; j < rows.size(); ++j) {
    hits[order[j]].score = static_cast<float>(scores[j]);
  }
}

}  // namespace

Result<void> StateSnapshot::check_terms(size_t text_field, std::span<const QueryTerm> terms) const {
  if (text_field >= state_.schema->text_fields.size()) {
    return fail(Code::InvalidArgument, "text field {} is not there; the collection has {}",
                text_field, state_.schema->text_fields.size());
  }
  if (terms.size() > kQueryTermsMax) {
    return fail(Code::TooLarge, "the question has {} terms; at most {} are searched", terms.size(),
                kQueryTermsMax);
  }
  for (const QueryTerm& term : terms) {
    if (!std::isfinite(term.weight)) {
      return fail(Code::InvalidArgument, "term '{}' has the weight {}, which is no finite number",
                  term.text, term.weight);
    }
  }
  return {};
}

Result<std::vector<Hit>> StateSnapshot::search_text(size_t text_field,
                                                    std::span<const QueryTerm> terms, size_t k,
                                                    const Selection* selection) const {
  Result<void> checked = check_terms(text_field, terms);
  if (checked) {
    checked = check_search(k, selection);
  }
  if (!checked) {
    return pass_on(checked);
  }
  const TextQuery query = prepare(state_, text_field, terms);
  std::vector<Hit> hits;
  for (uint32_t i = 0; i < tail_number(); ++i) {
    search_segment(state_.segments[i], text_field, terms, query, allowed(i, selection), i, hits);
    keep_best(hits, k);
  }
  if (const index::RowSet* rows = allowed(tail_number(), selection)) {
    rows->for_each([&](size_t number) {
      const auto row = static_cast<uint32_t>(number);
      const TailRow& tail = state_.tail.row(row);
      float score = 0;
      if (score_tail_row(tail, text_field, terms, query, score)) {
        hits.push_back({{tail_number(), row}, tail.sequence, 0, score});
      }
    });
  }
  keep_best(hits, k);
  return hits;
}

Result<std::vector<Hit>> StateSnapshot::score_text(size_t text_field,
                                                   std::span<const QueryTerm> terms,
                                                   std::span<const RowRef> rows) const {
  Result<void> checked = check_terms(text_field, terms);
  if (checked) {
    checked = check_rows(rows);
  }
  if (!checked) {
    return pass_on(checked);
  }
  const TextQuery query = prepare(state_, text_field, terms);
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
      score_segment(state_.segments[segment], text_field, terms, query, part, hits);
    } else {
      for (const size_t place : part) {
        score_tail_row(state_.tail.row(rows[place].row), text_field, terms, query,
                       hits[place].score);
      }
    }
    begin = end;
  }
  return hits;
}

}  // namespace sibyl::store
