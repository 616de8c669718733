#include "index/vector_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/memory_view.h"
#include "simd/distance.h"

namespace sibyl::index {
namespace {

struct Rows {
  size_t dimension = 0;
  std::vector<std::vector<float>> vectors;
};

/// Rows with none, one or several vectors; whole numbers, so that many scores are equal.
Rows random_rows(size_t count, size_t dimension, uint64_t seed) {
  base::Random random(seed);
  Rows rows{dimension, {}};
  for (size_t row = 0; row < count; ++row) {
    std::vector<float> vectors(random.below(4) * dimension);
    for (float& value : vectors) {
      value = static_cast<float>(random.below(5)) - 2.0F;
    }
    rows.vectors.push_back(std::move(vectors));
  }
  return rows;
}

std::string file_of(const Rows& rows) {
  VectorFileBuilder builder(rows.dimension);
  for (const auto& row : rows.vectors) {
    EXPECT_TRUE(builder.add_row(row));
  }
  return builder.finish();
}

std::unique_ptr<VectorIndex> open_rows(const Rows& rows) {
  auto opened = open_exact_index(memory_view(file_of(rows)), "v");
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(*opened);
}

std::vector<VectorHit> brute_force(const Rows& rows, const std::vector<float>& query, size_t k,
                                   const RowSet* allowed) {
  std::vector<VectorHit> hits;
  for (uint32_t row = 0; row < rows.vectors.size(); ++row) {
    VectorHit hit{row, 0, kNoVector};
    for (size_t at = 0; at < rows.vectors[row].size(); at += rows.dimension) {
      const float score = simd::dot(query.data(), &rows.vectors[row][at], rows.dimension);
      if (score > hit.score) {
        hit.score = score;
        hit.part = static_cast<uint32_t>(at / rows.dimension);
      }
    }
    if (hit.score > kNoVector && (allowed == nullptr || allowed->contains(row))) {
      hits.push_back(hit);
    }
  }
  std::sort(hits.begin(), hits.end(), [](const VectorHit& a, const VectorHit& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  });
  hits.resize(std::min(k, hits.size()));
  return hits;
}

void expect_equal(const std::vector<VectorHit>& found, const std::vector<VectorHit>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].row, expected[i].row) << i;
    EXPECT_EQ(found[i].part, expected[i].part) << i;
    EXPECT_EQ(found[i].score, expected[i].score) << i;
  }
}

TEST(ExactIndex, AgreesWithBruteForceWithAndWithoutAFilter) {
  const Rows rows = random_rows(700, 6, 1);
  const auto index = open_rows(rows);
  EXPECT_EQ(index->rows(), 700U);
  EXPECT_EQ(index->dimension(), 6U);
  base::Random random(2);
  for (int round = 0; round < 30; ++round) {
    std::vector<float> query(6);
    for (float& value : query) {
      value = static_cast<float>(random.below(7)) - 3.0F;
    }
    RowSet allowed(700);
    for (size_t row = 0; row < 700; ++row) {
      if (random.below(10) == 0) {
        allowed.insert(row);
      }
    }
    std::vector<VectorHit> found;
    for (const size_t k : {0, 1, 10, 5000}) {
      index->search(query, k, nullptr, found);
      expect_equal(found, brute_force(rows, query, k, nullptr));
      index->search(query, k, &allowed, found);
      expect_equal(found, brute_force(rows, query, k, &allowed));
    }
  }
}

TEST(ExactIndex, ScoresGivenRowsInTheirOrder) {
  const Rows rows{2, {{1, 0, 0, 1}, {}, {2, 2}}};
  const auto index = open_rows(rows);
  const std::vector<float> query = {1, 3};
  const std::vector<uint32_t> wanted = {2, 1, 0, 2};
  std::vector<VectorHit> hits(wanted.size());
  index->score(query, wanted, hits);
  EXPECT_EQ(hits[0].score, 8);
  EXPECT_EQ(hits[1].score, kNoVector);
  EXPECT_EQ(hits[2].score, 3);
  EXPECT_EQ(hits[2].part, 1U);
  EXPECT_EQ(hits[3].row, 2U);
}

TEST(ExactIndex, RowsOfManyVectorsCrossTheBlocks) {
  Rows rows{1, {}};
  rows.vectors.push_back(std::vector<float>(600, 1));
  rows.vectors[0][599] = 9;
  rows.vectors.push_back({});
  rows.vectors.push_back(std::vector<float>(300, 2));
  const auto index = open_rows(rows);
  std::vector<VectorHit> found;
  index->search(std::vector<float>{1}, 5, nullptr, found);
  expect_equal(found, {{0, 599, 9}, {2, 0, 2}});
}

TEST(ExactIndex, GivesTheVectorsOfARowBack) {
  const Rows rows = random_rows(50, 3, 4);
  const auto index = open_rows(rows);
  for (uint32_t row = 0; row < 50; ++row) {
    const auto vectors = index->vectors_of(row);
    EXPECT_TRUE(std::equal(vectors.begin(), vectors.end(), rows.vectors[row].begin(),
                           rows.vectors[row].end()));
  }
}

TEST(VectorFile, RefusesWhatIsNoVectorBeforeItIsStored) {
  VectorFileBuilder builder(4);
  const std::vector<float> three = {1, 2, 3};
  auto added = builder.add_row(three);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::InvalidData);
  EXPECT_NE(added.error().message.find("4"), std::string::npos);
  const std::vector<float> infinite = {1, 2, 3, std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(builder.add_row(infinite));
  const std::vector<float> nan = {1, 2, std::nanf(""), 3};
  EXPECT_FALSE(builder.add_row(nan));
  EXPECT_EQ(builder.rows(), 0U);
}

TEST(VectorFile, EveryFlippedBitIsFound) {
  const std::string bytes = file_of(random_rows(20, 3, 5));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    const auto opened = open_exact_index(memory_view(damaged), "segment.vectors");
    ASSERT_FALSE(opened) << at;
    EXPECT_EQ(opened.error().code, Code::DataLoss);
    EXPECT_NE(opened.error().message.find("segment.vectors"), std::string::npos);
  }
}

TEST(VectorFile, AnEmptyFileIsAFile) {
  const auto index = open_rows({8, {}});
  std::vector<VectorHit> found(3);
  index->search(std::vector<float>(8, 1), 10, nullptr, found);
  EXPECT_TRUE(found.empty());
}

TEST(RowSet, GrowsVisitsAndCounts) {
  RowSet set(3, true);
  set.grow(130);
  set.insert(129);
  set.erase(1);
  std::vector<size_t> rows;
  set.for_each([&](size_t row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<size_t>{0, 2, 129}));
  EXPECT_EQ(set.count(), 3U);
  EXPECT_FALSE(set.contains(64));
}

}  // namespace
}  // namespace sibyl::index
