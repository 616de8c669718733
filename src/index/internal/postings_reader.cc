#include <algorithm>
#include <numeric>
#include <optional>

#include "base/bytes.h"
#include "index/checked_file.h"
#include "index/internal/postings_file.h"
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

class MappedPostings final : public Postings {
 public:
  MappedPostings(CheckedFile file, const Sections& sections)
      : file_(std::move(file)), s_(sections) {}

  size_t rows() const override { return s_.meta.rows; }
  size_t terms() const override { return s_.meta.terms; }
  uint64_t total_length() const override { return s_.meta.total_length; }
  uint32_t length(uint32_t row) const override { return s_.lengths[row]; }

  std::string_view term(size_t number) const override {
    return s_.term_bytes.substr(s_.term_offsets[number],
                                s_.term_offsets[number + 1] - s_.term_offsets[number]);
  }

  uint32_t document_frequency(std::string_view wanted) const override {
    const std::optional<size_t> number = find(wanted);
    return number ? s_.frequencies[*number] : 0;
  }

  void read(std::string_view wanted, std::vector<Posting>& out) const override {
    const std::optional<size_t> number = find(wanted);
    if (!number) {
      return;
    }
    out.reserve(out.size() + s_.frequencies[*number]);
    for (uint32_t block = s_.first_block[*number]; block < s_.first_block[*number + 1]; ++block) {
      decode(*number, block, out);
    }
  }

  void frequencies(std::string_view wanted, std::span<const uint32_t> rows,
                   std::span<uint32_t> out) const override {
    std::fill(out.begin(), out.end(), 0);
    const std::optional<size_t> number = find(wanted);
    if (!number) {
      return;
    }
    const uint32_t end = s_.first_block[*number + 1];
    uint32_t block = s_.first_block[*number];
    uint32_t decoded = UINT32_MAX;
    std::vector<Posting> postings;
    size_t at = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      while (block < end && s_.blocks[block].last_row < rows[i]) {
        ++block;
      }
      if (block == end) {
        return;
      }
      if (decoded != block) {
        postings.clear();
        decode(*number, block, postings);
        decoded = block;
        at = 0;
      }
      while (at < postings.size() && postings[at].row < rows[i]) {
        ++at;
      }
      if (at < postings.size() && postings[at].row == rows[i]) {
        out[i] = postings[at].frequency;
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

  /// Bytes that do not decode (a checksum that was made to fit) end the block early.
  void decode(size_t number, uint32_t block, std::vector<Posting>& out) const {
    const uint32_t first = s_.first_block[number];
    const uint64_t begin = s_.blocks[block].data_begin;
    const uint64_t end =
        block + 1 < s_.blocks.size() ? s_.blocks[block + 1].data_begin : s_.data.size();
    const uint32_t before = (block - first) * kPostingsBlockRows;
    const uint32_t count = std::min(kPostingsBlockRows, s_.frequencies[number] - before);
    base::ByteReader reader(s_.data.substr(begin, end - begin));
    uint64_t next_row = block == first ? 0 : uint64_t{s_.blocks[block - 1].last_row} + 1;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t row = next_row + reader.varint();
      const uint64_t frequency = reader.varint();
      if (!reader.ok() || row >= s_.meta.rows || row < next_row || frequency > UINT32_MAX) {
        return;
      }
      out.push_back({static_cast<uint32_t>(row), static_cast<uint32_t>(frequency)});
      next_row = row + 1;
    }
  }

  CheckedFile file_;
  Sections s_;
};

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
  uint64_t begin = 0;
  for (const PostingsBlock& block : s.blocks) {
    if (block.data_begin < begin || block.data_begin > s.data.size() ||
        block.last_row >= s.meta.rows) {
      return "a block lies outside of the file";
    }
    begin = block.data_begin;
  }
  return {};
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
