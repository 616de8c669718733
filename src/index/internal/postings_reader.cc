#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "index/checked_file.h"
#include "index/internal/bit_packing.h"
#include "index/internal/postings_file.h"
#include "index/internal/postings_list.h"
#include "index/postings.h"

namespace sibyl::index {
namespace {

struct Sections {
  PostingsMeta meta;
  std::span<const uint32_t> lengths;
  std::span<const uint64_t> term_offsets;
  std::string_view term_bytes;
  std::span<const uint32_t> frequencies;
  std::span<const uint32_t> first_block;
  std::span<const PostingsBlock> blocks;
  std::string_view data;
};

/// A block's contents.
struct Decoded {
  std::array<uint32_t, kPostingsBlockRows> rows{};
  std::array<uint32_t, kPostingsBlockRows> frequencies{};
};

class MappedPostings final : public Postings {
 public:
  MappedPostings(CheckedFile file, const Sections& sections)
      : file_(std::move(file)), s_(sections) {}

  size_t rows() const override { return s_.meta.rows; }
  size_t terms() const override { return s_.meta.terms; }
  uint64_t total_length() const override { return s_.meta.total_length; }
  uint32_t length(uint32_t row) const override { return s_.lengths[row]; }
  std::span<const uint32_t> lengths() const override { return s_.lengths; }

  std::string_view term(size_t number) const override {
    return s_.term_bytes.substr(s_.term_offsets[number],
                                s_.term_offsets[number + 1] - s_.term_offsets[number]);
  }

  uint32_t document_frequency(std::string_view wanted) const override {
    const std::optional<size_t> number = find(wanted);
    return number ? s_.frequencies[*number] : 0;
  }

  uint32_t document_frequency(std::string_view wanted, const RowSet& live) const override {
    const PostingsList postings = list(wanted);
    std::array<uint32_t, kPostingsBlockRows> rows{};
    uint32_t found = 0;
    for (size_t block = 0; block < postings.blocks().size(); ++block) {
      const uint32_t count = postings.rows(block, rows.data());
      for (uint32_t i = 0; i < count; ++i) {
        found += live.contains(rows[i]) ? 1 : 0;
      }
    }
    return found;
  }

  PostingsList list(std::string_view wanted) const override {
    const std::optional<size_t> number = find(wanted);
    if (!number) {
      return {};
    }
    const size_t begin = s_.first_block[*number];
    const size_t end = s_.first_block[*number + 1];
    return {s_.blocks.subspan(begin, end - begin), s_.frequencies[*number], s_.data};
  }

  void read(std::string_view wanted, std::vector<Posting>& out) const override {
    const PostingsList postings = list(wanted);
    out.reserve(out.size() + postings.count());
    Decoded at;
    for (size_t block = 0; block < postings.blocks().size(); ++block) {
      const uint32_t count = postings.decode(block, at.rows.data(), at.frequencies.data());
      for (uint32_t i = 0; i < count; ++i) {
        out.push_back({at.rows[i], at.frequencies[i]});
      }
    }
  }

  void frequencies(std::string_view wanted, std::span<const uint32_t> rows,
                   std::span<uint32_t> out) const override {
    std::fill(out.begin(), out.end(), 0);
    const PostingsList postings = list(wanted);
    Decoded at;
    size_t block = 0;
    size_t decoded = SIZE_MAX;
    uint32_t count = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      block = postings.find_block(block, rows[i]);
      if (block == postings.blocks().size()) {
        return;
      }
      if (decoded != block) {
        count = postings.decode(block, at.rows.data(), at.frequencies.data());
        decoded = block;
        place = 0;
      }
      while (place < count && at.rows[place] < rows[i]) {
        ++place;
      }
      if (place < count && at.rows[place] == rows[i]) {
        out[i] = at.frequencies[place];
      }
    }
  }

 private:
  std::optional<size_t> find(std::string_view wanted) const {
    size_t low = 0;
    size_t high = s_.meta.terms;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (term(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < s_.meta.terms && term(low) == wanted) {
      return low;
    }
    return std::nullopt;
  }

  CheckedFile file_;
  Sections s_;
};

/// A block's contents are as long as its numbers need, and its rows can ascend to the last one.
std::string_view find_block_fault(const Sections& s) {
  if (s.data.size() < kBitPackingPad) {
    return "its blocks are cut off";
  }
  const uint64_t data_end = s.data.size() - kBitPackingPad;
  uint64_t begin = 0;
  for (size_t term = 0; term < s.frequencies.size(); ++term) {
    uint64_t row = 0;
    uint32_t left = s.frequencies[term];
    for (uint32_t i = s.first_block[term]; i < s.first_block[term + 1]; ++i) {
      const PostingsBlock& block = s.blocks[i];
      const uint32_t count = std::min(left, kPostingsBlockRows);
      left -= count;
      row += count;
      if (block.data_begin != begin || block.row_bits > 32 || block.value_bits > 32 ||
          block.last_row >= s.meta.rows || row > uint64_t{block.last_row} + 1) {
        return "a block lies outside of the file";
      }
      row = uint64_t{block.last_row} + 1;
      begin += packed_bytes(count, block.row_bits) + packed_bytes(count, block.value_bits);
      if (begin > data_end) {
        return "a block lies outside of the file";
      }
    }
  }
  return begin == data_end ? std::string_view() : "its blocks do not fill the file";
}

/// The name of what does not fit, or empty.
std::string_view find_fault(const Sections& s) {
  if (s.meta.value_kind != 0 || s.meta.block_rows != kPostingsBlockRows) {
    return "its kind of values or block size is not one that is written";
  }
  if (std::accumulate(s.lengths.begin(), s.lengths.end(), uint64_t{0}) != s.meta.total_length) {
    return "the lengths of its rows do not add up";
  }
  if (s.term_offsets.front() != 0 || s.term_offsets.back() != s.term_bytes.size() ||
      !std::is_sorted(s.term_offsets.begin(), s.term_offsets.end())) {
    return "the places of its terms do not ascend";
  }
  if (s.first_block.front() != 0 || s.first_block.back() != s.meta.blocks) {
    return "the terms' blocks do not cover the table";
  }
  for (size_t i = 0; i < s.frequencies.size(); ++i) {
    const uint64_t blocks =
        (uint64_t{s.frequencies[i]} + kPostingsBlockRows - 1) / kPostingsBlockRows;
    if (s.first_block[i + 1] != s.first_block[i] + blocks || s.frequencies[i] == 0 ||
        s.frequencies[i] > s.meta.rows) {
      return "the number of a term's blocks does not fit its rows";
    }
  }
  return find_block_fault(s);
}

}  // namespace

Result<std::unique_ptr<Postings>> open_postings(std::shared_ptr<const base::FileView> file,
                                                const std::string& path) {
  Result<CheckedFile> opened =
      CheckedFile::open(std::move(file), path, kPostingsMagic, kPostingsVersion);
  if (!opened) {
    return pass_on(opened);
  }
  Sections s;
  std::span<const PostingsMeta> meta;
  if (!opened->array(kPostingsMeta, 1, meta)) {
    return damaged(path, "its description has a wrong size");
  }
  s.meta = meta.front();
  s.term_bytes = opened->section(kPostingsTermBytes);
  s.data = opened->section(kPostingsData);
  if (s.meta.rows >= UINT32_MAX || s.meta.terms >= UINT32_MAX || s.meta.blocks >= UINT32_MAX ||
      !opened->array(kPostingsLengths, s.meta.rows, s.lengths) ||
      !opened->array(kPostingsTermOffsets, s.meta.terms + 1, s.term_offsets) ||
      !opened->array(kPostingsFrequencies, s.meta.terms, s.frequencies) ||
      !opened->array(kPostingsFirstBlock, s.meta.terms + 1, s.first_block) ||
      !opened->array(kPostingsBlocks, s.meta.blocks, s.blocks)) {
    return damaged(path, "a section's size does not fit the number of rows and terms");
  }
  if (const std::string_view fault = find_fault(s); !fault.empty()) {
    return damaged(path, fault);
  }
  return std::make_unique<MappedPostings>(std::move(*opened), s);
}

}  // namespace sibyl::index
