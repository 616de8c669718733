#include "index/postings.h"

#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/memory_view.h"

namespace sibyl::index {
namespace {

using Rows = std::vector<std::map<std::string, uint32_t>>;

TermCounts counts_of(const std::map<std::string, uint32_t>& row) {
  TermCounts terms;
  for (const auto& [term, count] : row) {
    terms.counts.emplace_back(term, count);
    terms.length += count;
  }
  return terms;
}

std::string file_of(const Rows& rows) {
  PostingsBuilder builder;
  for (const auto& row : rows) {
    builder.add_row(counts_of(row));
  }
  return builder.finish();
}

std::unique_ptr<Postings> open_rows(const Rows& rows) {
  auto opened = open_postings(memory_view(file_of(rows)), "p");
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(*opened);
}

/// Common terms fill many blocks, rare ones one entry.
Rows random_rows(size_t count, uint64_t seed) {
  base::Random random(seed);
  Rows rows(count);
  for (auto& row : rows) {
    for (uint64_t i = random.below(8); i > 0; --i) {
      const uint64_t skewed = random.below(1 + random.below(300));
      row["t" + std::to_string(skewed)] += 1 + static_cast<uint32_t>(random.below(200));
    }
  }
  return rows;
}

void expect_same(const Postings& postings, const Rows& rows) {
  std::map<std::string, std::map<uint32_t, uint32_t>> expected;
  uint64_t total = 0;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    const TermCounts terms = counts_of(rows[row]);
    EXPECT_EQ(postings.length(row), terms.length);
    total += terms.length;
    for (const auto& [term, count] : terms.counts) {
      expected[term][row] = count;
    }
  }
  EXPECT_EQ(postings.rows(), rows.size());
  EXPECT_EQ(postings.total_length(), total);
  ASSERT_EQ(postings.terms(), expected.size());
  std::vector<Posting> read;
  size_t number = 0;
  for (const auto& [term, by_row] : expected) {
    EXPECT_EQ(postings.term(number++), term);
    EXPECT_EQ(postings.document_frequency(term), by_row.size());
    read.clear();
    postings.read(term, read);
    ASSERT_EQ(read.size(), by_row.size());
    RowSet even(rows.size());
    uint32_t in_even = 0;
    for (const auto& [row, count] : by_row) {
      if (row % 2 == 0) {
        even.insert(row);
        ++in_even;
      }
    }
    EXPECT_EQ(postings.document_frequency(term, even), in_even);
    size_t at = 0;
    for (const auto& [row, count] : by_row) {
      EXPECT_EQ(read[at].row, row);
      EXPECT_EQ(read[at].frequency, count);
      ++at;
    }
  }
}

TEST(Postings, AreReadBackAsTheyWereCounted) {
  const Rows rows = random_rows(3000, 1);
  expect_same(*open_rows(rows), rows);
  expect_same(*open_rows({}), {});
  expect_same(*open_rows({{}, {{"a", 1}}, {}}), {{}, {{"a", 1}}, {}});
}

TEST(Postings, LargeGapsAndValuesAreKept) {
  Rows rows(70'000);
  rows[0]["a"] = 1;
  rows[69'999]["a"] = 4'000'000'000U;
  rows[3]["b"] = UINT32_MAX;
  for (size_t row = 0; row < 300; ++row) {
    rows[row * 200]["c"] = 1;
  }
  expect_same(*open_rows(rows), rows);
}

TEST(Postings, FrequenciesOfGivenRowsAgreeWithReading) {
  const Rows rows = random_rows(2000, 2);
  const auto postings = open_rows(rows);
  base::Random random(3);
  for (int round = 0; round < 200; ++round) {
    const std::string term = "t" + std::to_string(random.below(40));
    std::vector<uint32_t> wanted;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (random.below(1 + random.below(100)) == 0) {
        wanted.push_back(row);
      }
    }
    std::vector<uint32_t> found(wanted.size(), 77);
    postings->frequencies(term, wanted, found);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto at = rows[wanted[i]].find(term);
      EXPECT_EQ(found[i], at == rows[wanted[i]].end() ? 0 : at->second);
    }
  }
}

TEST(Postings, MergeKeepsTheChosenRowsEndToEnd) {
  const Rows first = random_rows(500, 4);
  const Rows second = random_rows(700, 5);
  const auto a = open_rows(first);
  const auto b = open_rows(second);
  base::Random random(6);
  RowSet keep(first.size());
  Rows expected;
  for (size_t row = 0; row < first.size(); ++row) {
    if (random.below(3) != 0) {
      keep.insert(row);
      expected.push_back(first[row]);
    }
  }
  expected.insert(expected.end(), second.begin(), second.end());
  const std::vector<PostingsPart> parts = {{a.get(), &keep}, {b.get(), nullptr}};
  const std::string merged = merge_postings(parts);
  EXPECT_EQ(merged, file_of(expected));  // the same file as if it had been built at once
}

TEST(Postings, EveryFlippedBitIsFound) {
  const std::string bytes = file_of(random_rows(20, 7));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    const auto opened = open_postings(memory_view(damaged), "segment.postings");
    ASSERT_FALSE(opened) << at;
    EXPECT_EQ(opened.error().code, Code::DataLoss);
    EXPECT_NE(opened.error().message.find("segment.postings"), std::string::npos);
  }
}

TEST(Postings, TermsAreCountedWhateverTheirOrder) {
  const TermCounts counts = count_terms({{"b", 0, 1}, {"a", 2, 3}, {"b", 4, 5}});
  const std::vector<std::pair<std::string, uint32_t>> expected = {{"a", 1}, {"b", 2}};
  EXPECT_EQ(counts.counts, expected);
  EXPECT_EQ(counts.length, 3U);
}

}  // namespace
}  // namespace sibyl::index
