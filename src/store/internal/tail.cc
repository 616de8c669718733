#include "store/internal/tail.h"

#include <algorithm>

#include "base/bytes.h"

namespace sibyl::store {

TailTerms::TailTerms(index::TermCounts terms) : terms_(std::move(terms)) {
  places_.reserve(terms_.counts.size());
  for (uint32_t i = 0; i < terms_.counts.size(); ++i) {
    places_.push_back({base::hash64(terms_.counts[i].first), i});
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.hash < b.hash; });
}

uint32_t TailTerms::frequency(std::string_view term, uint64_t hash) const {
  auto place = std::lower_bound(places_.begin(), places_.end(), hash,
                                [](const Place& a, uint64_t wanted) { return a.hash < wanted; });
  for (; place != places_.end() && place->hash == hash; ++place) {
    if (terms_.counts[place->number].first == term) {
      return terms_.counts[place->number].second;
    }
  }
  return 0;
}

TailBlockTerms::TailBlockTerms(std::span<const std::shared_ptr<const TailRow>> rows, size_t field) {
  struct Entry {
    uint64_t hash = 0;
    uint32_t row = 0;
    uint32_t number = 0;
  };
  std::vector<Entry> entries;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    rows[row]->texts[field].for_each_hash(
        [&](uint64_t hash, uint32_t number) { entries.push_back({hash, row, number}); });
  }
  const auto term_of = [&](const Entry& entry) -> std::string_view {
    return rows[entry.row]->texts[field].terms().counts[entry.number].first;
  };
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.hash != b.hash) {
      return a.hash < b.hash;
    }
    const int difference = term_of(a).compare(term_of(b));
    return difference != 0 ? difference < 0 : a.row < b.row;
  });
  postings_.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (groups_.empty() || hashes_.back() != entry.hash || groups_.back().term != term_of(entry)) {
      hashes_.push_back(entry.hash);
      groups_.push_back({term_of(entry), static_cast<uint32_t>(postings_.size())});
    }
    const TailTerms& text = rows[entry.row]->texts[field];
    postings_.push_back({entry.row, text.terms().counts[entry.number].second, text.length()});
  }
  groups_.push_back({{}, static_cast<uint32_t>(postings_.size())});
}

std::span<const TailPosting> TailBlockTerms::find(std::string_view term, uint64_t hash) const {
  const auto found = std::lower_bound(hashes_.begin(), hashes_.end(), hash);
  auto group = static_cast<size_t>(found - hashes_.begin());
  for (; group < hashes_.size() && hashes_[group] == hash; ++group) {
    if (groups_[group].term == term) {
      return std::span(postings_).subspan(groups_[group].begin,
                                          groups_[group + 1].begin - groups_[group].begin);
    }
  }
  return {};
}

void Tail::append(std::shared_ptr<const TailRow> row, const Schema& schema) {
  if (rows == blocks.size() * kTailBlockRows) {
    blocks.push_back(std::make_shared<TailBlock>());
  }
  TailBlock& block = *blocks[rows / kTailBlockRows];
  block.rows[rows % kTailBlockRows] = std::move(row);
  ++rows;
  if (rows % kTailBlockRows == 0) {
    block.terms.clear();
    for (size_t field = 0; field < schema.text_fields.size(); ++field) {
      block.terms.emplace_back(block.rows, field);
    }
    block.codes.clear();
    for (size_t field = 0; field < schema.vector_fields.size(); ++field) {
      TailBlockCodes& codes = block.codes.emplace_back(schema.vector_fields[field].dimension);
      for (const auto& row_of_block : block.rows) {
        codes.add_row(row_of_block->row.vectors[field]);
      }
    }
  }
}

void Tail::read(size_t field, std::string_view term, uint64_t hash,
                std::vector<TailPosting>& out) const {
  const uint32_t full = rows / kTailBlockRows;
  for (uint32_t i = 0; i < full; ++i) {
    for (TailPosting posting : blocks[i]->terms[field].find(term, hash)) {
      posting.row += i * kTailBlockRows;
      if (live->contains(posting.row)) {
        out.push_back(posting);
      }
    }
  }
  for (uint32_t number = full * kTailBlockRows; number < rows; ++number) {
    const TailTerms& text = row(number).texts[field];
    const uint32_t frequency = text.frequency(term, hash);
    if (frequency > 0 && live->contains(number)) {
      out.push_back({number, frequency, text.length()});
    }
  }
}

}  // namespace sibyl::store
