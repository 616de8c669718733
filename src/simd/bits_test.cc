#include "simd/bits.h"

#include <random>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

std::vector<uint64_t> words_of(size_t count, unsigned fullness) {
  std::mt19937_64 random(count + fullness);
  std::vector<uint64_t> words(count);
  for (uint64_t& word : words) {
    word = fullness == 0 ? 0 : ~uint64_t{0};
    for (unsigned i = fullness; i < 4; ++i) {
      word &= random();
    }
  }
  return words;
}

std::vector<size_t> places_of(const std::vector<uint64_t>& words) {
  std::vector<size_t> places;
  for (size_t place = 0; place < words.size() * 64; ++place) {
    if ((words[place / 64] >> (place % 64) & 1) != 0) {
      places.push_back(place);
    }
  }
  return places;
}

TEST(Bits, AreCountedAndFoundByRankAtEveryLevel) {
  for (const size_t count : {0U, 1U, 2U, 9U, 67U}) {
    for (const unsigned fullness : {0U, 1U, 3U, 4U}) {
      const auto words = words_of(count, fullness);
      const auto places = places_of(words);
      std::vector<size_t> ranks;
      for (size_t rank = 0; rank < places.size(); rank += 1 + rank % 3) {
        ranks.push_back(rank);
      }
      std::vector<size_t> expected;
      for (const size_t rank : ranks) {
        expected.push_back(places[rank]);
      }
      ranks.push_back(places.size());  // none
      at_every_level([&] {
        EXPECT_EQ(count_bits(words), places.size());
        std::vector<size_t> found(ranks.size());
        found.resize(select_bits(words, ranks, found.data()));
        EXPECT_EQ(found, expected);
      });
    }
  }
}

}  // namespace
}  // namespace sibyl::simd
