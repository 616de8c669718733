#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "index/checked_file.h"
#include "index/internal/bit_packing.h"
#include "index/internal/postings_file.h"
#include "index/postings.h"

namespace sibyl::index {
namespace {

/// Lays out terms that come in byte order.
class PostingsEncoder {
 public:
  explicit PostingsEncoder(std::vector<uint32_t> lengths) : lengths_(std::move(lengths)) {}

  void add_term(std::string_view term, std::span<const Posting> postings) {
    term_bytes_ += term;
    term_offsets_.push_back(term_bytes_.size());
    frequencies_.push_back(static_cast<uint32_t>(postings.size()));
    uint32_t next_row = 0;
    for (size_t begin = 0; begin < postings.size(); begin += kPostingsBlockRows) {
      const auto block =
          postings.subspan(begin, std::min<size_t>(kPostingsBlockRows, postings.size() - begin));
      add_block(block, next_row);
      next_row = block.back().row + 1;
    }
    first_block_.push_back(static_cast<uint32_t>(blocks_.size()));
  }

  std::string finish() {
    data_.append(kBitPackingPad, '\0');
    PostingsMeta meta;
    meta.rows = lengths_.size();
    meta.terms = frequencies_.size();
    meta.blocks = blocks_.size();
    meta.total_length = std::accumulate(lengths_.begin(), lengths_.end(), uint64_t{0});
    std::string bytes;
    CheckedFileWriter writer(kPostingsMagic, kPostingsVersion,
                             {{kPostingsMeta, sizeof(meta)},
                              {kPostingsLengths, lengths_.size() * sizeof(uint32_t)},
                              {kPostingsTermOffsets, term_offsets_.size() * sizeof(uint64_t)},
                              {kPostingsTermBytes, term_bytes_.size()},
                              {kPostingsFrequencies, frequencies_.size() * sizeof(uint32_t)},
                              {kPostingsFirstBlock, first_block_.size() * sizeof(uint32_t)},
                              {kPostingsBlocks, blocks_.size() * sizeof(PostingsBlock)},
                              {kPostingsData, data_.size()}},
                             [&bytes](std::string_view part) -> Result<void> {
                               bytes += part;
                               return {};
                             });
    bool ok = writer.append_values(std::span<const PostingsMeta>(&meta, 1)).has_value();
    ok = ok && writer.append_values(std::span<const uint32_t>(lengths_)).has_value();
    ok = ok && writer.append_values(std::span<const uint64_t>(term_offsets_)).has_value();
    ok = ok && writer.append(term_bytes_).has_value();
    ok = ok && writer.append_values(std::span<const uint32_t>(frequencies_)).has_value();
    ok = ok && writer.append_values(std::span<const uint32_t>(first_block_)).has_value();
    ok = ok && writer.append_values(std::span<const PostingsBlock>(blocks_)).has_value();
    ok = ok && writer.append(data_).has_value() && writer.finish().has_value();
    base::check(ok, "memory takes every byte");
    return bytes;
  }

 private:
  void add_block(std::span<const Posting> postings, uint32_t next_row) {
    PostingsBlock block;
    block.last_row = postings.back().row;
    block.length_min = UINT32_MAX;
    block.data_begin = data_.size();
    gaps_.clear();
    values_.clear();
    uint32_t gap_max = 0;
    for (const Posting& posting : postings) {
      block.value_max = std::max(block.value_max, posting.frequency);
      block.length_min = std::min(block.length_min, lengths_[posting.row]);
      gaps_.push_back(posting.row - next_row);
      values_.push_back(posting.frequency - 1);
      gap_max = std::max(gap_max, gaps_.back());
      next_row = posting.row + 1;
    }
    block.row_bits = static_cast<uint8_t>(bits_of(gap_max));
    block.value_bits = static_cast<uint8_t>(bits_of(block.value_max - 1));
    pack_bits(gaps_, block.row_bits, data_);
    pack_bits(values_, block.value_bits, data_);
    blocks_.push_back(block);
  }

  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> term_offsets_{0};
  std::string term_bytes_;
  std::vector<uint32_t> frequencies_;
  std::vector<uint32_t> first_block_{0};
  std::vector<PostingsBlock> blocks_;
  std::string data_;
  std::vector<uint32_t> gaps_;    ///< of the block that is being packed
  std::vector<uint32_t> values_;  ///< the same
};

/// New row numbers of the parts' rows; UINT32_MAX for rows left out.
struct RowMap {
  std::vector<std::vector<uint32_t>> new_row;
  std::vector<uint32_t> lengths;
};

RowMap map_rows(std::span<const PostingsPart> parts) {
  RowMap map;
  for (const PostingsPart& part : parts) {
    std::vector<uint32_t> rows(part.postings->rows(), UINT32_MAX);
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (part.keep == nullptr || part.keep->contains(row)) {
        rows[row] = static_cast<uint32_t>(map.lengths.size());
        map.lengths.push_back(part.postings->length(row));
      }
    }
    map.new_row.push_back(std::move(rows));
  }
  return map;
}

}  // namespace

TermCounts count_terms(const std::vector<text::Term>& terms) {
  std::vector<std::string_view> sorted;
  sorted.reserve(terms.size());
  for (const text::Term& term : terms) {
    sorted.push_back(term.text);
  }
  std::sort(sorted.begin(), sorted.end());
  TermCounts result;
  result.length = static_cast<uint32_t>(terms.size());
  for (const std::string_view term : sorted) {
    if (!result.counts.empty() && result.counts.back().first == term) {
      ++result.counts.back().second;
    } else {
      result.counts.emplace_back(term, 1);
    }
  }
  return result;
}

struct PostingsBuilder::State {
  std::unordered_map<std::string, std::vector<Posting>> lists;
  std::vector<uint32_t> lengths;
};

PostingsBuilder::PostingsBuilder() : state_(std::make_unique<State>()) {}
PostingsBuilder::~PostingsBuilder() = default;

void PostingsBuilder::add_row(const TermCounts& terms) {
  const auto row = static_cast<uint32_t>(state_->lengths.size());
  for (const auto& [term, frequency] : terms.counts) {
    state_->lists[term].push_back({row, frequency});
  }
  state_->lengths.push_back(terms.length);
}

std::string PostingsBuilder::finish() {
  std::vector<const std::pair<const std::string, std::vector<Posting>>*> sorted;
  sorted.reserve(state_->lists.size());
  for (const auto& entry : state_->lists) {
    sorted.push_back(&entry);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  PostingsEncoder encoder(std::move(state_->lengths));
  for (const auto* entry : sorted) {
    encoder.add_term(entry->first, entry->second);
  }
  state_ = std::make_unique<State>();
  return encoder.finish();
}

std::string merge_postings(std::span<const PostingsPart> parts) {
  RowMap map = map_rows(parts);
  PostingsEncoder encoder(std::move(map.lengths));
  std::vector<size_t> next(parts.size(), 0);
  std::vector<Posting> merged;
  std::vector<Posting> read;
  std::vector<std::string_view> heads(parts.size());
  while (true) {
    const std::string_view* smallest = nullptr;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (next[i] < parts[i].postings->terms()) {
        heads[i] = parts[i].postings->term(next[i]);
        smallest = smallest == nullptr || heads[i] < *smallest ? &heads[i] : smallest;
      }
    }
    if (smallest == nullptr) {
      return encoder.finish();
    }
    const std::string_view term = *smallest;
    merged.clear();
    for (size_t i = 0; i < parts.size(); ++i) {
      if (next[i] >= parts[i].postings->terms() || heads[i] != term) {
        continue;
      }
      ++next[i];
      read.clear();
      parts[i].postings->read(term, read);
      for (const Posting& posting : read) {
        if (map.new_row[i][posting.row] != UINT32_MAX) {
          merged.push_back({map.new_row[i][posting.row], posting.frequency});
        }
      }
    }
    if (!merged.empty()) {
      encoder.add_term(term, merged);
    }
  }
}

}  // namespace sibyl::index
