#include <array>
#include <cstring>

#include "simd/code_distance.h"
#include "simd/internal/extensions.h"
#include "simd/internal/targets.h"
#include "simd/internal/vnni.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/nibble_distance.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

constexpr size_t kNumbers = 64;  // in a block of 32 bytes
constexpr size_t kBlock = 32;

#if HWY_TARGET == HWY_SCALAR

/// Products of a block with 64 signed bytes.
struct NibbleSums {
  int32_t sum;
  void clear() { sum = 0; }
  void add(const uint8_t* block, const int8_t* query) {
    for (size_t i = 0; i < kBlock; ++i) {
      sum += (block[i] & 15) * query[i] + (block[i] >> 4) * query[kBlock + i];
    }
  }
  void add_square(const uint8_t* block) {
    for (size_t i = 0; i < kBlock; ++i) {
      sum += (block[i] & 15) * (block[i] & 15) + (block[i] >> 4) * (block[i] >> 4);
    }
  }
  int32_t total() const { return sum; }
};

#else

// Bytes of half of a block at least, so that every instruction set reads whole registers.
using Nibbles = hn::CappedTag<uint8_t, kBlock>;
using NibbleVector = hn::Vec<Nibbles>;
using Signed = hn::RebindToSigned<Nibbles>;
using Shorts = hn::Repartition<int16_t, Signed>;
using Words = hn::Repartition<int32_t, Signed>;

/// Sums of neighbouring products, at most 2 x 15 x 128 in size: 16 bits hold eight of them.
HWY_INLINE hn::Vec<Shorts> pair_products(NibbleVector nibbles, hn::Vec<Signed> bytes) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Vec<Shorts>{_mm256_maddubs_epi16(nibbles.raw, bytes.raw)};
#elif HWY_TARGET == HWY_SSE4
  return hn::Vec<Shorts>{_mm_maddubs_epi16(nibbles.raw, bytes.raw)};
#else
  const Shorts d;
  const hn::Half<Signed> half;
  const auto signed_nibbles = hn::BitCast(Signed(), nibbles);
  const auto low = hn::Mul(hn::PromoteTo(d, hn::LowerHalf(half, signed_nibbles)),
                           hn::PromoteTo(d, hn::LowerHalf(half, bytes)));
  const auto high = hn::Mul(hn::PromoteTo(d, hn::UpperHalf(half, signed_nibbles)),
                            hn::PromoteTo(d, hn::UpperHalf(half, bytes)));
  return hn::Add(low, high);
#endif
}

struct NibbleSums {
  hn::Vec<Words> even;
  hn::Vec<Words> odd;

  HWY_INLINE void clear() {
    even = hn::Zero(Words());
    odd = hn::Zero(Words());
  }
  HWY_INLINE void take(hn::Vec<Shorts> products) {
    even =
        hn::ReorderWidenMulAccumulate(Words(), products, hn::Set(Shorts(), int16_t{1}), even, odd);
  }
  HWY_INLINE void add(const uint8_t* block, const int8_t* query) {
    const Nibbles d;
    const Signed ds;
    SIBYL_SIMD_UNROLL
    for (size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
      const auto bytes = hn::LoadU(d, block + i);
      const auto low = hn::And(bytes, hn::Set(d, uint8_t{15}));
      const auto high = hn::ShiftRight<4>(bytes);
      take(hn::Add(pair_products(low, hn::LoadU(ds, query + i)),
                   pair_products(high, hn::LoadU(ds, query + kBlock + i))));
    }
  }
  HWY_INLINE void add_square(const uint8_t* block) {
    const Nibbles d;
    const Signed ds;
    SIBYL_SIMD_UNROLL
    for (size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
      const auto bytes = hn::LoadU(d, block + i);
      const auto low = hn::And(bytes, hn::Set(d, uint8_t{15}));
      const auto high = hn::ShiftRight<4>(bytes);
      take(hn::Add(pair_products(low, hn::BitCast(ds, low)),
                   pair_products(high, hn::BitCast(ds, high))));
    }
  }
  HWY_INLINE int32_t total() const {
    return hn::GetLane(hn::SumOfLanes(Words(), hn::Add(even, odd)));
  }
};

#endif

struct NibbleDot {
  /// `query` is filled up with zeros to whole blocks.
  template <size_t kRows>
  static HWY_INLINE void run(const int8_t* query, const uint8_t* const* rows, size_t blocks,
                             int32_t* out) {
    NibbleSums sums[kRows];
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      sums[r].clear();
    }
    for (size_t b = 0; b < blocks; ++b) {
      SIBYL_SIMD_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        sums[r].add(rows[r] + b * kBlock, query + b * kNumbers);
      }
    }
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      out[r] = sums[r].total();
    }
  }
};

void nibble_dot_blocks(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                       size_t blocks, int32_t* out) {
  many_rows<NibbleDot>(query, base, rows, stride, blocks, out);
}

void nibble_square_many(const uint8_t* base, size_t rows, size_t stride, size_t dimension,
                        int32_t* out) {
  for (size_t r = 0; r < rows; ++r) {
    NibbleSums sums;
    sums.clear();
    for (size_t i = 0; i < nibble_bytes(dimension); i += kBlock) {
      sums.add_square(base + r * stride + i);
    }
    out[r] = sums.total();
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(nibble_dot_blocks);
HWY_EXPORT(nibble_square_many);

void nibble_dot_many(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                     size_t dimension, int32_t* out) {
  constexpr size_t kDimensionMax = 32768;
  const size_t blocks = nibble_bytes(dimension) / 32;
  alignas(64) std::array<int8_t, kDimensionMax> filled;
  if (dimension % 64 != 0) {
    std::memcpy(filled.data(), query, dimension);
    std::memset(filled.data() + dimension, 0, blocks * 64 - dimension);
    query = filled.data();
  }
  if (extensions().vnni) {
    vnni::nibble_dot_blocks(query, base, rows, stride, blocks, out);
  } else {
    HWY_DYNAMIC_DISPATCH(nibble_dot_blocks)(query, base, rows, stride, blocks, out);
  }
}

void nibble_square_many(const uint8_t* base, size_t rows, size_t stride, size_t dimension,
                        int32_t* out) {
  HWY_DYNAMIC_DISPATCH(nibble_square_many)(base, rows, stride, dimension, out);
}

}  // namespace sibyl::simd
#endif
