#include "simd/fast_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/fast_scan.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

/// Below every bound that is a number.
constexpr float kLowest = -3.4e38F;
/// Groups whose sums surely fit 16 bits: 2048 x 31 < 65,536.
constexpr size_t kInShorts = 2048;

#if HWY_TARGET != HWY_SCALAR

using Bytes = hn::ScalableTag<uint8_t>;
using ByteVector = hn::Vec<Bytes>;
using Shorts = hn::ScalableTag<uint16_t>;
using ShortVector = hn::Vec<Shorts>;
using Shorts128 = hn::FixedTag<uint16_t, 8>;

/// Groups that one register holds.
constexpr size_t kGroupsTogether = HWY_MAX_BYTES / 16;
/// Registers of lookups that are added in bytes: 8 x 31 < 256.
constexpr size_t kInBytes = 8;

/// Sums of 16 codes over groups: bytes of even and of odd place, widened apart.
struct HalfSums {
  ShortVector even;
  ShortVector odd;
};

HWY_INLINE void widen(ByteVector bytes, HalfSums& sums) {
  const Shorts d;
  const auto shorts = hn::BitCast(d, bytes);
  sums.even = hn::Add(sums.even, hn::And(shorts, hn::Set(d, uint16_t{255})));
  sums.odd = hn::Add(sums.odd, hn::ShiftRight<8>(shorts));
}

/// kSteps registers of codes against their tables.
template <size_t kSteps>
HWY_INLINE void look_up(const uint8_t* codes, const uint8_t* table, HalfSums& low, HalfSums& high) {
  const Bytes d;
  const auto mask = hn::Set(d, uint8_t{15});
  auto low_bytes = hn::Zero(d);
  auto high_bytes = hn::Zero(d);
  SIBYL_SIMD_UNROLL
  for (size_t s = 0; s < kSteps; ++s) {
    const auto code = hn::LoadU(d, codes + s * HWY_MAX_BYTES);
    const auto entries = hn::LoadU(d, table + s * HWY_MAX_BYTES);
    low_bytes = hn::Add(low_bytes, hn::TableLookupBytes(entries, hn::And(code, mask)));
    // The bits of the neighbouring byte that the shift brings in are masked off.
    const auto shifted = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(Shorts(), code)));
    high_bytes = hn::Add(high_bytes, hn::TableLookupBytes(entries, hn::And(shifted, mask)));
  }
  widen(low_bytes, low);
  widen(high_bytes, high);
}

#if HWY_MAX_BYTES == 64
HWY_INLINE hn::Vec<Shorts128> fold(ShortVector v) {
  const hn::Half<Shorts> half;
  const hn::Half<decltype(half)> quarter;
  const auto two = hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
  return hn::Add(hn::LowerHalf(quarter, two), hn::UpperHalf(quarter, two));
}
#elif HWY_MAX_BYTES == 32
HWY_INLINE hn::Vec<Shorts128> fold(ShortVector v) {
  const hn::Half<Shorts> half;
  return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
}
#else
HWY_INLINE hn::Vec<Shorts128> fold(ShortVector v) {
  return v;
}
#endif

/// 16 sums in the order of the codes.
HWY_INLINE void store_half(const HalfSums& sums, uint16_t* out) {
  const Shorts128 d;
  const auto even = fold(sums.even);
  const auto odd = fold(sums.odd);
  hn::StoreU(hn::InterleaveLower(d, even, odd), d, out);
  hn::StoreU(hn::InterleaveUpper(d, even, odd), d, out + 8);
}

/// Sums of one block over at most kInShorts groups.
HWY_INLINE void scan_block(const uint8_t* codes, size_t groups, const uint8_t* table,
                           uint16_t* sums) {
  const Shorts d;
  HalfSums low{hn::Zero(d), hn::Zero(d)};
  HalfSums high = low;
  size_t g = 0;
  for (; g + kInBytes * kGroupsTogether <= groups; g += kInBytes * kGroupsTogether) {
    look_up<kInBytes>(codes + g * 16, table + g * 16, low, high);
  }
  for (; g < groups; g += kGroupsTogether) {
    look_up<1>(codes + g * 16, table + g * 16, low, high);
  }
  store_half(low, sums);
  store_half(high, sums + 16);
}

#else  // HWY_TARGET == HWY_SCALAR

void scan_block(const uint8_t* codes, size_t groups, const uint8_t* table, uint16_t* sums) {
  std::fill_n(sums, kFastScanCodes, uint16_t{0});
  for (size_t g = 0; g < groups; ++g) {
    const uint8_t* entries = table + g * 16;
    for (size_t j = 0; j < 16; ++j) {
      const uint8_t code = codes[g * 16 + j];
      sums[j] = static_cast<uint16_t>(sums[j] + entries[code & 15]);
      sums[j + 16] = static_cast<uint16_t>(sums[j + 16] + entries[code >> 4]);
    }
  }
}

#endif

void fast_scan(const uint8_t* blocks, size_t stride, size_t count, size_t groups,
               const uint8_t* table, uint32_t* sums) {
  HWY_ALIGN std::array<uint16_t, kFastScanCodes> part;
  for (size_t i = 0; i < count; ++i) {
    uint32_t* out = sums + i * kFastScanCodes;
    std::fill_n(out, kFastScanCodes, 0U);
    for (size_t g = 0; g < groups; g += kInShorts) {
      scan_block(blocks + i * stride + g * 16, std::min(kInShorts, groups - g), table + g * 16,
                 part.data());
      for (size_t j = 0; j < kFastScanCodes; ++j) {
        out[j] += part[j];
      }
    }
  }
}

/// Sums as floats: exact, for they stay below 2^24.
HWY_INLINE FloatVector sums_at(Floats d, const uint16_t* sums) {
  const hn::Rebind<uint16_t, Floats> narrow;
  const hn::RebindToSigned<Floats> wide;
  return hn::ConvertTo(d, hn::PromoteTo(wide, hn::Load(narrow, sums)));
}

/// Bounds of one block from its sums over all groups; `factors` are its offsets and gains.
template <class SumsAt>
HWY_INLINE float bounds_of_block(const float* factors, const FastScanQuery& query, float error,
                                 const SumsAt& sums_from, float* bounds) {
  const Floats d;
  const auto steps = hn::Set(d, query.scale.step);
  const auto bases = hn::Set(d, query.scale.base + query.error_share * error);
  const auto shares = hn::Set(d, query.offset_share);
  auto best = hn::Set(d, kLowest);
  for (size_t j = 0; j < kFastScanCodes; j += hn::Lanes(d)) {
    const auto score = hn::MulAdd(steps, sums_from(j), bases);
    const auto offset = hn::Mul(hn::LoadU(d, factors + j), shares);
    const auto bound = hn::MulAdd(hn::LoadU(d, factors + kFastScanCodes + j), score, offset);
    hn::StoreU(bound, d, bounds + j);
    best = hn::IfThenElse(hn::Lt(best, bound), bound, best);
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// Bounds outside of the mask become NaN; the best of the others.
float keep_masked(uint32_t mask, float* bounds) {
  const Floats d;
  const auto nan = hn::NaN(d);
  auto best = hn::Set(d, kLowest);
  for (size_t j = 0; j < kFastScanCodes; j += hn::Lanes(d)) {
    const uint64_t bits = mask >> j;
    const auto kept = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&bits));
    const auto bound = hn::IfThenElse(kept, hn::LoadU(d, bounds + j), nan);
    hn::StoreU(bound, d, bounds + j);
    best = hn::IfThenElse(hn::Lt(best, bound), bound, best);
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// Blocks whose sums are kept as 16-bit numbers until the bounds are made of them: reading wide
/// what was just stored narrow would wait for the store.
constexpr size_t kBatch = 32;

/// Bounds of `count` blocks, not more than kBatch.
void bounds_of_run(const FastScanBlocks& blocks, size_t first, size_t count,
                   const FastScanQuery& query, float* bounds, float* best) {
  const Floats d;
  HWY_ALIGN std::array<uint16_t, kBatch * kFastScanCodes> sums;
  const uint8_t* codes = blocks.codes + first * blocks.stride;
  const size_t code_bytes = fast_scan_block_bytes(blocks.groups);
  for (size_t i = 0; i < count; ++i) {
    scan_block(codes + i * blocks.stride, blocks.groups, query.table,
               sums.data() + i * kFastScanCodes);
  }
  for (size_t i = 0; i < count; ++i) {
    const uint16_t* from = sums.data() + i * kFastScanCodes;
    best[i] = bounds_of_block(
        reinterpret_cast<const float*>(codes + i * blocks.stride + code_bytes), query,
        blocks.errors[first + i], [from, d](size_t j) HWY_ATTR { return sums_at(d, from + j); },
        bounds + i * kFastScanCodes);
  }
}

/// More groups than 16-bit sums hold.
void bounds_of_long_codes(const FastScanBlocks& blocks, size_t first, size_t count,
                          const FastScanQuery& query, float* bounds, float* best) {
  const Floats d;
  HWY_ALIGN std::array<uint32_t, kFastScanCodes> sums;
  const uint32_t* from = sums.data();
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* codes = blocks.codes + (first + i) * blocks.stride;
    fast_scan(codes, blocks.stride, 1, blocks.groups, query.table, sums.data());
    best[i] = bounds_of_block(
        reinterpret_cast<const float*>(codes + fast_scan_block_bytes(blocks.groups)), query,
        blocks.errors[first + i],
        [from, d](size_t j) HWY_ATTR {
          const hn::RebindToUnsigned<Floats> du;
          const hn::RebindToSigned<Floats> di;
          return hn::ConvertTo(d, hn::BitCast(di, hn::Load(du, from + j)));
        },
        bounds + i * kFastScanCodes);
  }
}

/// Blocks with many bits of the mask from `first` on, up to `count`.
size_t run_of_many(const uint32_t* masks, size_t count) {
  size_t i = 0;
  while (i < count && std::popcount(masks[i]) > kFastScanFewBits) {
    ++i;
  }
  return i;
}

/// Not looked up: infinity where the mask has a bit.
float bounds_of_few(uint32_t mask, float* bounds) {
  if (mask == 0) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  std::fill_n(bounds, kFastScanCodes, std::numeric_limits<float>::infinity());
  return keep_masked(mask, bounds);
}

void fast_scan_bounds(const FastScanBlocks& blocks, size_t first, size_t count,
                      const FastScanQuery& query, const uint32_t* masks, float* bounds,
                      float* best) {
  const auto bounds_of = blocks.groups > kInShorts ? bounds_of_long_codes : bounds_of_run;
  for (size_t i = 0; i < count;) {
    size_t run = std::min(kBatch, count - i);
    if (masks != nullptr) {
      run = run_of_many(masks + i, run);
      if (run == 0) {
        best[i] = bounds_of_few(masks[i], bounds + i * kFastScanCodes);
        ++i;
        continue;
      }
    }
    bounds_of(blocks, first + i, run, query, bounds + i * kFastScanCodes, best + i);
    for (size_t end = i + run; i < end; ++i) {
      if (masks != nullptr && masks[i] != UINT32_MAX) {
        best[i] = keep_masked(masks[i], bounds + i * kFastScanCodes);
      }
    }
  }
}

uint32_t at_least(const float* bounds, float threshold) {
  const Floats d;
  const auto thresholds = hn::Set(d, threshold);
  uint64_t found = 0;
  for (size_t j = 0; j < kFastScanCodes; j += hn::Lanes(d)) {
    std::array<uint8_t, 8> bits{};
    hn::StoreMaskBits(d, hn::Ge(hn::LoadU(d, bounds + j), thresholds), bits.data());
    uint64_t lanes = 0;
    for (size_t b = 0; b < (hn::Lanes(d) + 7) / 8; ++b) {
      lanes |= uint64_t{bits[b]} << (8 * b);
    }
    found |= lanes << j;
  }
  return static_cast<uint32_t>(found);
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(fast_scan);
HWY_EXPORT(fast_scan_bounds);
HWY_EXPORT(at_least);

void fast_scan_pack(const uint8_t* codes, size_t groups, uint8_t* block) {
  for (size_t g = 0; g < groups; ++g) {
    for (size_t j = 0; j < 16; ++j) {
      block[g * 16 + j] =
          static_cast<uint8_t>(codes[j * groups + g] | codes[(j + 16) * groups + g] << 4);
    }
  }
}

void fast_scan(const uint8_t* blocks, size_t stride, size_t count, size_t groups,
               const uint8_t* table, uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(fast_scan)(blocks, stride, count, groups, table, sums);
}

void fast_scan_bounds(const FastScanBlocks& blocks, size_t first, size_t count,
                      const FastScanQuery& query, const uint32_t* masks, float* bounds,
                      float* best) {
  HWY_DYNAMIC_DISPATCH(fast_scan_bounds)(blocks, first, count, query, masks, bounds, best);
}

uint32_t at_least(const float* bounds, float threshold) {
  return HWY_DYNAMIC_DISPATCH(at_least)(bounds, threshold);
}

FastScanScale sign_table(std::span<const float> query, uint8_t* table) {
  const size_t groups = query.size() / 4;
  float widest = 0;
  double lowest_sum = 0;
  for (size_t g = 0; g < groups; ++g) {
    float magnitude = 0;
    for (size_t b = 0; b < 4; ++b) {
      magnitude += std::fabs(query[4 * g + b]);
    }
    widest = std::max(widest, magnitude);
    lowest_sum -= magnitude;
  }
  // Entries of a group run from -magnitude to magnitude; one step for all groups. Where its inverse
  // is no number all entries are 0.
  const float step = 2 * widest / kFastScanEntryMax;
  const float inverse = std::isnormal(1 / step) ? 1 / step : 0;
  for (size_t g = 0; g < groups; ++g) {
    const float* q = query.data() + 4 * g;
    // A 1 adds |q| twice where q > 0, a 0 where q < 0: all entries are then >= 0.
    std::array<float, 16> entries;
    entries[0] = 0.5F;
    for (size_t b = 0; b < 4; ++b) {
      entries[0] += q[b] < 0 ? -2 * q[b] * inverse : 0;
    }
    for (size_t b = 0; b < 4; ++b) {
      const float set = 2 * q[b] * inverse;
      for (size_t code = 0; code < size_t{1} << b; ++code) {
        entries[code | size_t{1} << b] = entries[code] + set;
      }
    }
    for (size_t code = 0; code < 16; ++code) {
      // Twice the largest number times an inverse of 0 is no number: its entry is 0, too.
      const float entry = entries[code] > 0 ? entries[code] : 0;
      table[16 * g + code] = static_cast<uint8_t>(std::min(entry, float{kFastScanEntryMax}));
    }
  }
  return {step, static_cast<float>(lowest_sum)};
}

void sign_codes(std::span<const float> numbers, uint8_t* codes) {
  for (size_t g = 0; g < numbers.size() / 4; ++g) {
    uint8_t code = 0;
    for (size_t b = 0; b < 4; ++b) {
      code = static_cast<uint8_t>(code | (numbers[4 * g + b] >= 0 ? 1U << b : 0U));
    }
    codes[g] = code;
  }
}

}  // namespace sibyl::simd
#endif
