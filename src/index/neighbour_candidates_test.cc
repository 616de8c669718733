#include "index/internal/neighbour_candidates.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/internal/neighbour_prune.h"

namespace sibyl::index {
namespace {

std::vector<uint32_t> nodes_of(const std::vector<Candidate>& candidates) {
  std::vector<uint32_t> nodes(candidates.size());
  std::transform(candidates.begin(), candidates.end(), nodes.begin(), candidate_node);
  return nodes;
}

TEST(NeighbourCandidates, TheNearestAndTheNearestOfEachCellAreKept) {
  NeighbourCandidates candidates(10, 2, 4);
  NeighbourCandidates::Scratch scratch;
  const std::vector<uint32_t> others = {0, 1, 2, 3, 4, 5, 6};  // 0 is the node itself
  const std::vector<float> distances = {0, 1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> cells = {0, 1, 1, 1, 3, 3, 2};
  candidates.offer(0, others, distances.data(), cells.data(), scratch);
  std::vector<Candidate> kept;
  candidates.collect(0, kept);
  EXPECT_EQ(nodes_of(kept), (std::vector<uint32_t>{1, 2, 4, 6}));
  // A nearer one in cell 3, an equal one with a lower number in cell 2, nothing new otherwise.
  const std::vector<uint32_t> later = {9, 5, 3};
  const std::vector<float> later_distances = {3.5F, 6, 3};
  const std::vector<uint8_t> later_cells = {3, 2, 1};
  candidates.offer(0, later, later_distances.data(), later_cells.data(), scratch);
  candidates.collect(0, kept);
  EXPECT_EQ(nodes_of(kept), (std::vector<uint32_t>{1, 2, 9, 5}));
  candidates.collect(1, kept);
  EXPECT_TRUE(kept.empty());
}

TEST(NeighbourCandidates, WhatIsKeptDoesNotDependOnTheOrderOfOffers) {
  base::Random random(4);
  std::vector<uint32_t> others(200);
  std::iota(others.begin(), others.end(), 1U);
  std::vector<float> distances;
  std::vector<uint8_t> cells;
  for (size_t i = 0; i < others.size(); ++i) {
    distances.push_back(static_cast<float>(random.below(40)));  // many are equal
    cells.push_back(static_cast<uint8_t>(random.below(16)));
  }
  std::vector<Candidate> expected;
  for (int order = 0; order < 5; ++order) {
    NeighbourCandidates candidates(201, 12, 16);
    NeighbourCandidates::Scratch scratch;
    std::vector<uint32_t> shuffled = others;
    random.shuffle(shuffled);
    const size_t part = 10 + 7 * static_cast<size_t>(order);
    for (size_t first = 0; first < shuffled.size(); first += part) {
      const size_t count = std::min(part, shuffled.size() - first);
      std::vector<float> some(count);
      std::vector<uint8_t> some_cells(count);
      for (size_t i = 0; i < count; ++i) {
        some[i] = distances[shuffled[first + i] - 1];
        some_cells[i] = cells[shuffled[first + i] - 1];
      }
      candidates.offer(0, std::span(shuffled).subspan(first, count), some.data(), some_cells.data(),
                       scratch);
    }
    std::vector<Candidate> kept;
    candidates.collect(0, kept);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    if (order == 0) {
      expected = kept;
    }
    EXPECT_EQ(kept, expected) << order;
  }
}

// Node 0 at 0 on a line; the rest by their places.
std::vector<Candidate> on_a_line(const NeighbourSpace& space) {
  std::vector<Candidate> candidates;
  for (uint32_t node = 1; node < space.count(); ++node) {
    candidates.push_back(make_candidate(space.distance(0, node), node));
  }
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

std::vector<uint32_t> chosen_of(const std::vector<float>& places, size_t degree) {
  const NeighbourSpace space(places, 1, Metric::kSquaredL2);
  NeighbourPruner pruner(space);
  const auto candidates = on_a_line(space);
  const auto chosen = pruner.choose(candidates, degree);
  return nodes_of({chosen.begin(), chosen.end()});
}

TEST(NeighbourPruner, OneOnEachSideComesBeforeASecondOnTheSame) {
  EXPECT_EQ(chosen_of({0, 1, 1.5F, 2, -10}, 2), (std::vector<uint32_t>{1, 4}));
}

TEST(NeighbourPruner, PlacesThatAreLeftGoToWhatIsCoveredLeast) {
  // 1 and -10 cover the rest. The ratios of squares: 2 to 1, 4; 3 to 1, 9 / 4; 9 to 1, 81 / 64; so
  // 9 is taken; then 3 (9 / 4) before 2 (4), and 8 (64, to 9) is last.
  const std::vector<float> places = {0, 1, 2, 3, 8, 9, -10};
  EXPECT_EQ(chosen_of(places, 3), (std::vector<uint32_t>{1, 5, 6}));
  EXPECT_EQ(chosen_of(places, 4), (std::vector<uint32_t>{1, 3, 5, 6}));
  EXPECT_EQ(chosen_of(places, 5), (std::vector<uint32_t>{1, 2, 3, 5, 6}));
  EXPECT_EQ(chosen_of(places, 6).size(), 6U);
}

TEST(NeighbourPruner, CandidatesAtOnePlaceFillTheRowToo) {
  EXPECT_EQ(chosen_of({0, 2, 2, 2, 2, 2}, 3).size(), 3U);
  EXPECT_EQ(chosen_of({0, 0, 0, 0, 0, 0}, 3).size(), 3U);
}

}  // namespace
}  // namespace sibyl::index
