#include "store/internal/stacked_vectors.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/memory_view.h"

namespace sibyl::store {
namespace {

constexpr size_t kDimension = 3;

std::shared_ptr<const index::VectorIndex> make_part(base::Random& random, size_t rows) {
  index::VectorFileBuilder builder(kDimension);
  for (size_t row = 0; row < rows; ++row) {
    std::vector<float> vectors(random.below(3) * kDimension);
    for (float& value : vectors) {
      value = static_cast<float>(random.below(16)) - 8;
    }
    EXPECT_TRUE(builder.add_row(vectors));
  }
  return std::move(*index::open_exact_index(index::memory_view(builder.finish()), "part"));
}

TEST(StackedVectors, AreThePartsLaidEndToEnd) {
  base::Random random(1);
  const auto a = make_part(random, 5);
  const auto b = make_part(random, 1);
  const auto c = make_part(random, 70);
  const StackedVectors stacked({a, b, c});
  EXPECT_EQ(stacked.rows(), 76U);
  EXPECT_EQ(stacked.vectors(), a->vectors() + b->vectors() + c->vectors());
  EXPECT_EQ(stacked.part_of(0), 0U);
  EXPECT_EQ(stacked.part_of(4), 0U);
  EXPECT_EQ(stacked.part_of(5), 1U);
  EXPECT_EQ(stacked.part_of(6), 2U);
  EXPECT_EQ(stacked.part_of(75), 2U);
  EXPECT_EQ(stacked.first_row(2), 6U);
  EXPECT_EQ(stacked.vectors_of(6).data(), c->vectors_of(0).data());
}

TEST(StackedVectors, FindWhatOneIndexOverAllWouldFind) {
  base::Random random(2);
  const std::vector<std::shared_ptr<const index::VectorIndex>> parts = {
      make_part(random, 40), make_part(random, 1), make_part(random, 90)};
  const StackedVectors stacked(parts);
  index::VectorFileBuilder builder(kDimension);
  for (uint32_t row = 0; row < stacked.rows(); ++row) {
    ASSERT_TRUE(builder.add_row(stacked.vectors_of(row)));
  }
  const auto whole = std::move(*index::open_exact_index(index::memory_view(builder.finish()), "w"));
  index::RowSet some(stacked.rows());
  std::vector<uint32_t> asked;
  for (uint32_t row = 0; row < stacked.rows(); row += 1 + random.below(3)) {
    some.insert(row);
    asked.push_back(row);
  }
  const std::vector<float> query = {1, -2, 0.5F};
  for (const index::RowSet* allowed :
       {static_cast<const index::RowSet*>(nullptr), static_cast<const index::RowSet*>(&some)}) {
    for (const size_t k : {1, 7, 200}) {
      std::vector<index::VectorHit> found;
      std::vector<index::VectorHit> expected;
      stacked.search(query, k, allowed, found);
      whole->search(query, k, allowed, expected);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].row, expected[i].row);
        EXPECT_EQ(found[i].part, expected[i].part);
        EXPECT_EQ(found[i].score, expected[i].score);
      }
    }
  }
  std::vector<index::VectorHit> scores(asked.size());
  std::vector<index::VectorHit> expected(asked.size());
  stacked.score(query, asked, scores);
  whole->score(query, asked, expected);
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(scores[i].row, asked[i]);
    EXPECT_EQ(scores[i].score, expected[i].score);
  }
}

TEST(PlaceRows, KeepsEveryBitAtEveryOffset) {
  base::Random random(3);
  for (size_t round = 0; round < 300; ++round) {
    const size_t rows = 1 + random.below(200);
    const size_t offset = random.below(200);
    index::RowSet source(rows);
    for (size_t row = 0; row < rows; ++row) {
      if (random.below(2) == 0) {
        source.insert(row);
      }
    }
    const bool all = round % 4 == 0;
    index::RowSet target(offset + rows + random.below(70));
    target.insert(0);
    place_rows(all ? nullptr : &source, rows, offset, target);
    for (size_t row = 0; row < target.size(); ++row) {
      const bool inside = row >= offset && row < offset + rows;
      const bool expected = row == 0 || (inside && (all || source.contains(row - offset)));
      if (row != 0 || inside) {
        ASSERT_EQ(target.contains(row), expected) << "row " << row << " of round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::store
