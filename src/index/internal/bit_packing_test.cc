#include "index/internal/bit_packing.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace sibyl::index {
namespace {

TEST(BitPacking, EveryWidthAndCountComesBack) {
  base::Random random(1);
  for (unsigned bits = 0; bits <= 32; ++bits) {
    for (size_t count = 0; count <= 130; ++count) {
      std::vector<uint32_t> values(count);
      for (uint32_t& value : values) {
        value = static_cast<uint32_t>(random.below(uint64_t{1} << bits));
      }
      std::string bytes = "x";  // at an odd address
      pack_bits(values, bits, bytes);
      ASSERT_EQ(bytes.size(), 1 + packed_bytes(count, bits));
      bytes.append(kBitPackingPad, '\xFF');
      bytes.shrink_to_fit();  // a sanitizer sees reads past the pad
      std::vector<uint32_t> read(count, 77);
      unpack_bits(bytes.data() + 1, bits, read);
      ASSERT_EQ(read, values) << bits << " bits, " << count;
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(unpack_one(bytes.data() + 1, bits, i), values[i]);
      }
    }
  }
}

TEST(BitPacking, CountsTheBitsOfAValue) {
  EXPECT_EQ(bits_of(0), 0U);
  EXPECT_EQ(bits_of(1), 1U);
  EXPECT_EQ(bits_of(255), 8U);
  EXPECT_EQ(bits_of(256), 9U);
  EXPECT_EQ(bits_of(UINT32_MAX), 32U);
}

}  // namespace
}  // namespace sibyl::index
