#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "index/derived_index.h"
#include "index/memory_view.h"
#include "simd/distance.h"

namespace sibyl::index {
namespace {

using Rows = std::vector<std::vector<float>>;

std::shared_ptr<const VectorIndex> exact_index(const Rows& rows, size_t dimension) {
  VectorFileBuilder builder(dimension);
  for (const auto& row : rows) {
    EXPECT_TRUE(builder.add_row(row));
  }
  auto opened = open_exact_index(memory_view(builder.finish()), "vectors");
  EXPECT_TRUE(opened);
  return std::move(*opened);
}

std::string flat_file(const VectorIndex& vectors, const FlatSettings& settings = {}) {
  std::string bytes;
  const auto written =
      write_flat_index(vectors, settings, [&bytes](std::string_view part) -> Result<void> {
        bytes += part;
        return {};
      });
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return bytes;
}

std::unique_ptr<VectorIndex> flat_index(const std::shared_ptr<const VectorIndex>& vectors,
                                        const FlatSettings& settings = {}) {
  auto opened = open_flat_index(memory_view(flat_file(*vectors, settings)), "flat", vectors);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(*opened);
}

std::vector<float> random_vector(base::Random& random, size_t dimension, float scale = 1,
                                 float shift = 0) {
  std::vector<float> vector(dimension);
  for (float& value : vector) {
    value = scale * static_cast<float>(random.normal()) + shift;
  }
  return vector;
}

/// Points around 40 centres that lie away from zero, as the vectors of texts do.
std::vector<float> clustered_vector(base::Random& random, size_t dimension) {
  base::Random centre(random.below(40));
  std::vector<float> vector(dimension);
  for (float& value : vector) {
    value = 0.5F + static_cast<float>(centre.normal()) + 0.8F * static_cast<float>(random.normal());
  }
  return vector;
}

std::vector<VectorHit> best_of_all(const VectorIndex& index, const std::vector<float>& query,
                                   size_t k, const RowSet* allowed) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < index.rows(); ++row) {
    if (allowed == nullptr || allowed->contains(row)) {
      rows.push_back(row);
    }
  }
  std::vector<VectorHit> hits(rows.size());
  index.score(query, rows, hits);
  std::erase_if(hits, [](const VectorHit& hit) { return !(hit.score > kNoVector); });
  std::sort(hits.begin(), hits.end(), [](const VectorHit& a, const VectorHit& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  });
  hits.resize(std::min(k, hits.size()));
  return hits;
}

/// Found rows of the k best; every hit must carry the exact score and part, in descending order.
size_t found(const VectorIndex& index, const std::vector<float>& query, size_t k,
             const RowSet* allowed) {
  const std::vector<VectorHit> expected = best_of_all(index, query, k, allowed);
  std::vector<VectorHit> hits;
  index.search(query, k, allowed, hits);
  EXPECT_EQ(hits.size(), expected.size());
  std::set<uint32_t> rows;
  for (size_t i = 0; i < hits.size(); ++i) {
    VectorHit exact;
    index.score(query, std::span(&hits[i].row, 1), std::span(&exact, 1));
    EXPECT_EQ(hits[i].score, exact.score);
    EXPECT_EQ(hits[i].part, exact.part);
    EXPECT_TRUE(i == 0 || hits[i - 1].score >= hits[i].score);
    EXPECT_TRUE(allowed == nullptr || allowed->contains(hits[i].row));
    EXPECT_TRUE(rows.insert(hits[i].row).second) << "a row twice";
  }
  size_t common = 0;
  for (const VectorHit& hit : expected) {
    common += rows.count(hit.row);
  }
  return common;
}

struct Case {
  size_t rows;
  size_t dimension;
  size_t parts_max;  ///< 1: every row has one vector; else 0 to parts_max
  Metric metric;
};

class FlatIndex : public testing::TestWithParam<Case> {};

TEST_P(FlatIndex, FindsTheBestRowsUnderAnyFilter) {
  const Case& shape = GetParam();
  base::Random random(shape.rows + shape.dimension);
  Rows rows(shape.rows);
  for (auto& row : rows) {
    const size_t parts = shape.parts_max == 1 ? 1 : random.below(shape.parts_max + 1);
    for (size_t part = 0; part < parts; ++part) {
      const auto vector = clustered_vector(random, shape.dimension);
      row.insert(row.end(), vector.begin(), vector.end());
    }
  }
  const auto vectors = exact_index(rows, shape.dimension);
  const auto index = flat_index(vectors, {.metric = shape.metric});
  EXPECT_EQ(index->kind(), "flat");
  EXPECT_EQ(index->rows(), vectors->rows());
  EXPECT_EQ(index->vectors(), vectors->vectors());
  EXPECT_EQ(index->dimension(), shape.dimension);
  EXPECT_GE(index->mapped_bytes(), index->vectors() * shape.dimension * 9 / 8);
  EXPECT_GE(index->resident_bytes(), index->rows() * sizeof(uint32_t));
  size_t hits = 0;
  size_t wanted = 0;
  for (const uint64_t percent : {100, 90, 50, 5, 1, 0}) {
    for (int round = 0; round < 8; ++round) {
      RowSet allowed(shape.rows);
      for (size_t row = 0; row < shape.rows; ++row) {
        if (random.below(100) < percent) {
          allowed.insert(row);
        }
      }
      const auto query = clustered_vector(random, shape.dimension);
      const RowSet* filter = percent == 100 ? nullptr : &allowed;
      hits += found(*index, query, 10, filter);
      wanted += best_of_all(*index, query, 10, filter).size();
    }
  }
  EXPECT_GE(static_cast<double>(hits), 0.995 * static_cast<double>(wanted));
}

INSTANTIATE_TEST_SUITE_P(Shapes, FlatIndex,
                         testing::Values(Case{3000, 64, 1, Metric::kInnerProduct},
                                         Case{3000, 1, 1, Metric::kSquaredL2},
                                         Case{1500, 100, 3, Metric::kInnerProduct},
                                         Case{2000, 37, 1, Metric::kSquaredL2},
                                         Case{1000, 384, 1, Metric::kInnerProduct},
                                         Case{700, 130, 5, Metric::kSquaredL2},
                                         Case{400, 1000, 1, Metric::kInnerProduct},
                                         Case{33, 8, 2, Metric::kSquaredL2}));

TEST(FlatIndexSearch, GivesAsManyRowsAsAreWanted) {
  base::Random random(5);
  Rows rows;
  for (int i = 0; i < 20000; ++i) {
    rows.push_back(random_vector(random, 16));
  }
  const auto index = flat_index(exact_index(rows, 16));
  const auto query = random_vector(random, 16);
  for (const size_t k : {1, 16384, 20000, 1000000}) {
    const size_t expected = std::min<size_t>(k, rows.size());
    EXPECT_GE(static_cast<double>(found(*index, query, k, nullptr)),
              0.99 * static_cast<double>(expected));
  }
  std::vector<VectorHit> hits(3);
  index->search(query, 0, nullptr, hits);
  EXPECT_TRUE(hits.empty());
}

TEST(FlatIndexSearch, NoVectorsNoHits) {
  for (const Rows& rows : {Rows{}, Rows(70)}) {
    const auto index = flat_index(exact_index(rows, 3));
    std::vector<VectorHit> hits(3);
    index->search(std::vector<float>{1, 2, 3}, 5, nullptr, hits);
    EXPECT_TRUE(hits.empty());
    const RowSet all(rows.size(), true);
    index->search(std::vector<float>{1, 2, 3}, 5, &all, hits);
    EXPECT_TRUE(hits.empty());
  }
}

TEST(FlatIndexSearch, TheLargestDimensionIsSearched) {
  base::Random random(6);
  Rows rows;
  for (int i = 0; i < 90; ++i) {
    rows.push_back(random_vector(random, 32768));
  }
  const auto index = flat_index(exact_index(rows, 32768));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(found(*index, random_vector(random, 32768), 10, nullptr), 10U);
  }
}

// Equal scores: the lower row first, also among thousands of equal vectors.
TEST(FlatIndexSearch, EqualVectorsComeInTheOrderOfTheirRows) {
  const auto index = flat_index(exact_index(Rows(5000, std::vector<float>{1, 2, 3}), 3));
  std::vector<VectorHit> hits;
  index->search(std::vector<float>{3, 2, 1}, 7, nullptr, hits);
  ASSERT_EQ(hits.size(), 7U);
  for (uint32_t i = 0; i < 7; ++i) {
    EXPECT_EQ(hits[i].row, i);
    EXPECT_EQ(hits[i].score, 10);
  }
}

// Lengths whose squares overflow float, denormal ones, and zeros, beside ordinary vectors.
TEST(FlatIndexSearch, VectorsOfAnyLengthAreFound) {
  base::Random random(7);
  Rows rows;
  for (int i = 0; i < 600; ++i) {
    const float scale = i % 50 == 0 ? 1e25F : i % 7 == 0 ? 1e-41F : i % 5 == 0 ? 0.0F : 1.0F;
    rows.push_back(random_vector(random, 20, scale));
  }
  for (const Metric metric : {Metric::kInnerProduct, Metric::kSquaredL2}) {
    const auto index = flat_index(exact_index(rows, 20), {.metric = metric});
    for (const float scale : {1.0F, 1e-41F, 1e12F, 1e30F}) {
      for (int round = 0; round < 5; ++round) {
        const auto query = random_vector(random, 20, scale);
        std::vector<VectorHit> hits;
        index->search(query, 10, nullptr, hits);
        const auto expected = best_of_all(*index, query, 10, nullptr);
        ASSERT_EQ(hits.size(), expected.size());
        for (size_t i = 0; i < hits.size(); ++i) {
          EXPECT_EQ(hits[i].score, expected[i].score);
        }
      }
    }
  }
}

TEST(FlatIndexSearch, AQueryThatIsNoNumberFindsNothing) {
  base::Random random(8);
  Rows rows;
  for (int i = 0; i < 200; ++i) {
    rows.push_back(random_vector(random, 5));
  }
  const auto index = flat_index(exact_index(rows, 5));
  std::vector<float> query = {1, 2, std::nanf(""), 4, 5};
  std::vector<VectorHit> hits(1);
  index->search(query, 3, nullptr, hits);
  EXPECT_TRUE(hits.empty());
}

TEST(FlatIndexFile, IsTheSameForAnyNumberOfThreads) {
  base::Random random(9);
  Rows rows;
  for (int i = 0; i < 5000; ++i) {
    rows.push_back(random_vector(random, 70));
  }
  const auto vectors = exact_index(rows, 70);
  const std::string one = flat_file(*vectors);
  EXPECT_EQ(one, flat_file(*vectors, {.threads = 4}));
  EXPECT_NE(one, flat_file(*vectors, {.seed = 2}));
}

TEST(FlatIndexFile, AWrongWishIsRefusedBeforeTheWork) {
  const auto vectors = exact_index(Rows(100, std::vector<float>(8, 1)), 8);
  const auto sink = [](std::string_view) -> Result<void> {
    ADD_FAILURE() << "nothing is written";
    return {};
  };
  const auto small = write_flat_index(*vectors, {.memory_bytes_max = 1000}, sink);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, Code::TooLarge);
  EXPECT_NE(small.error().message.find("1000"), std::string::npos);
}

TEST(FlatIndexFile, StopsWhenItIsCancelledAndWhenTheDiskIsFull) {
  const auto vectors = exact_index(Rows(100, std::vector<float>(8, 1)), 8);
  const auto take = [](std::string_view) -> Result<void> { return {}; };
  double last = 0;
  const auto cancelled = write_flat_index(*vectors, {}, take, [&last](double share) {
    last = share;
    return false;
  });
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::Interrupted);
  EXPECT_GT(last, 0);
  const auto full = write_flat_index(*vectors, {}, [](std::string_view) -> Result<void> {
    return fail(Code::IoError, "no space");
  });
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::IoError);
}

TEST(FlatIndexFile, OfOtherVectorsIsRefused) {
  base::Random random(10);
  Rows rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(random_vector(random, 6));
  }
  const std::string file = flat_file(*exact_index(rows, 6));
  rows[17][3] += 1;
  const auto opened = open_flat_index(memory_view(file), "a.flat", exact_index(rows, 6));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::DataLoss);
  EXPECT_NE(opened.error().message.find("a.flat"), std::string::npos);
  EXPECT_FALSE(open_flat_index(memory_view(file), "a.flat", exact_index(Rows{}, 6)));
}

TEST(FlatIndexFile, EveryFlippedBitIsFound) {
  const auto vectors = exact_index(Rows(40, std::vector<float>{1, 2, 3}), 3);
  const std::string bytes = flat_file(*vectors);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    const auto opened = open_flat_index(memory_view(damaged), "x.flat", vectors);
    ASSERT_FALSE(opened) << at;
    EXPECT_EQ(opened.error().code, Code::DataLoss);
    EXPECT_NE(opened.error().message.find("x.flat"), std::string::npos);
  }
}

}  // namespace
}  // namespace sibyl::index
