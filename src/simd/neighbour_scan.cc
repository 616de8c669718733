#include "simd/neighbour_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/neighbour_scan.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

void nearest_of_16(const float* points, const float* centroids, size_t size, uint8_t* codes) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  HWY_ALIGN uint32_t nearest[hn::MaxLanes(Floats())];
  for (size_t i = 0; i < kScanLanes; i += hn::Lanes(d)) {
    auto least = hn::Set(d, 3.4e38f);
    auto best = hn::Zero(du);
    for (uint32_t j = 0; j < 16; ++j) {
      auto distance = hn::Zero(d);
      for (size_t c = 0; c < size; ++c) {
        const auto difference =
            hn::Sub(hn::LoadU(d, points + c * kScanLanes + i), hn::Set(d, centroids[j * size + c]));
        distance = hn::MulAdd(difference, difference, distance);
      }
      const auto nearer = hn::Lt(distance, least);
      least = hn::IfThenElse(nearer, distance, least);
      best = hn::IfThenElse(hn::RebindMask(du, nearer), hn::Set(du, j), best);
    }
    hn::Store(best, du, nearest);
    for (size_t lane = 0; lane < hn::Lanes(d); ++lane) {
      codes[i + lane] = static_cast<uint8_t>(nearest[lane]);
    }
  }
}

#undef SIBYL_SCAN_VECTORS
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define SIBYL_SCAN_VECTORS 0
#else
#define SIBYL_SCAN_VECTORS 1
#endif

#if SIBYL_SCAN_VECTORS

/// A sum of 16-byte blocks of a vector, as 8 numbers of 16 bits.
template <class D, class V>
HWY_INLINE hn::Vec<hn::Full128<uint16_t>> sum_blocks(D d, V v) {
  const hn::Full128<uint16_t> d128;
#if HWY_TARGET == HWY_AVX3
  const hn::Half<D> half;
  const auto folded = hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
  const hn::Half<hn::Half<D>> quarter;
  return hn::Add(hn::LowerHalf(quarter, folded), hn::UpperHalf(quarter, folded));
#elif HWY_TARGET == HWY_AVX2
  const hn::Half<D> half;
  return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
#else
  (void)d;
  (void)d128;
  return v;
#endif
}

/// Eight sums become distances; the bits of those below the threshold.
template <class V>
HWY_INLINE uint32_t finish_eight(V sums, const ScanTable& table, const uint16_t* add,
                                 const uint16_t* scale, float base, float threshold, float* out) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  const hn::CappedTag<float, 8> d;
#else
  const hn::CappedTag<float, 4> d;
#endif
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  HWY_ALIGN uint16_t buffer[8];
  hn::Store(sums, hn::Full128<uint16_t>(), buffer);
  uint32_t bits = 0;
  for (size_t i = 0; i < 8; i += hn::Lanes(d)) {
    const auto sum = hn::ConvertTo(d, hn::PromoteTo(di, hn::Load(d16, buffer + i)));
    const auto looked_up = hn::MulAdd(sum, hn::Set(d, table.step), hn::Set(d, table.offset));
    const auto factor = hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(d16, scale + i)));
    const auto addend = hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(d16, add + i)));
    const auto value = hn::MulAdd(looked_up, factor, hn::Add(addend, hn::Set(d, base)));
    hn::StoreU(value, d, out + i);
    uint8_t mask[8] = {};
    hn::StoreMaskBits(d, hn::Lt(value, hn::Set(d, threshold)), mask);
    bits |= uint32_t{mask[0]} << i;
  }
  return bits;
}

uint32_t scan_neighbours(const ScanTable& table, const uint8_t* packed, const uint16_t* add,
                         const uint16_t* scale, float base, float threshold, float* out) {
#if HWY_TARGET == HWY_AVX3
  const hn::CappedTag<uint8_t, 64> d;
#elif HWY_TARGET == HWY_AVX2
  const hn::CappedTag<uint8_t, 32> d;
#else
  const hn::CappedTag<uint8_t, 16> d;
#endif
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto nibble = hn::Set(d, 15);
  auto low = hn::Zero(wide);
  auto low_odd = hn::Zero(wide);
  auto high = hn::Zero(wide);
  auto high_odd = hn::Zero(wide);
  const size_t bytes = table.groups * 16;
  for (size_t i = 0; i < bytes; i += hn::Lanes(d)) {
    const auto entries = hn::Load(d, table.entries + i);
    const auto codes = hn::LoadU(d, packed + i);
    const auto first = hn::TableLookupBytes(entries, hn::And(codes, nibble));
    const auto second = hn::TableLookupBytes(
        entries, hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(wide, codes))), nibble));
    low = hn::Add(low, hn::BitCast(wide, first));
    low_odd = hn::Add(low_odd, hn::ShiftRight<8>(hn::BitCast(wide, first)));
    high = hn::Add(high, hn::BitCast(wide, second));
    high_odd = hn::Add(high_odd, hn::ShiftRight<8>(hn::BitCast(wide, second)));
  }
  // Even bytes were added together with 256 times the odd ones, modulo 2^16.
  low = hn::Sub(low, hn::ShiftLeft<8>(low_odd));
  high = hn::Sub(high, hn::ShiftLeft<8>(high_odd));
  uint32_t bits = finish_eight(sum_blocks(wide, low), table, add, scale, base, threshold, out);
  bits |=
      finish_eight(sum_blocks(wide, low_odd), table, add + 8, scale + 8, base, threshold, out + 8)
      << 8;
  bits |=
      finish_eight(sum_blocks(wide, high), table, add + 16, scale + 16, base, threshold, out + 16)
      << 16;
  bits |= finish_eight(sum_blocks(wide, high_odd), table, add + 24, scale + 24, base, threshold,
                       out + 24)
          << 24;
  return bits;
}

int32_t wide_dot(const int16_t* query, const int8_t* bytes, size_t dimension) {
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<int8_t, decltype(d)> narrow;
  const hn::RepartitionToWide<decltype(d)> wide;
  const size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(wide);
  auto odd = hn::Zero(wide);
  for (size_t i = 0; i < dimension; i += lanes) {
    const auto row = hn::PromoteTo(d, hn::LoadU(narrow, bytes + i));
    even = hn::ReorderWidenMulAccumulate(wide, hn::LoadU(d, query + i), row, even, odd);
  }
  return hn::GetLane(hn::SumOfLanes(wide, hn::Add(even, odd)));
}

#else

uint32_t scan_neighbours(const ScanTable& table, const uint8_t* packed, const uint16_t* add,
                         const uint16_t* scale, float base, float threshold, float* out) {
  uint32_t bits = 0;
  for (size_t i = 0; i < kScanLanes; ++i) {
    const size_t byte = i % 8 * 2 + i / 8 % 2;
    uint32_t sum = 0;
    for (size_t g = 0; g < table.groups; ++g) {
      const unsigned pair = packed[g * 16 + byte];
      sum += table.entries[g * 16 + (i < 16 ? pair & 15U : pair >> 4U)];
    }
    out[i] = (table.offset + table.step * static_cast<float>(sum)) * from_float16(scale[i]) +
             (from_float16(add[i]) + base);
    bits |= static_cast<uint32_t>(out[i] < threshold) << i;
  }
  return bits;
}

int32_t wide_dot(const int16_t* query, const int8_t* bytes, size_t dimension) {
  int32_t sum = 0;
  for (size_t i = 0; i < dimension; ++i) {
    sum += int32_t{query[i]} * bytes[i];
  }
  return sum;
}

#endif

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(scan_neighbours);
HWY_EXPORT(wide_dot);
HWY_EXPORT(nearest_of_16);

void scan_pack(const uint8_t* codes, size_t groups, uint8_t* packed) {
  for (size_t g = 0; g < groups; ++g) {
    const uint8_t* from = codes + g * kScanLanes;
    for (size_t j = 0; j < 8; ++j) {
      packed[g * 16 + 2 * j] = static_cast<uint8_t>(from[j] | from[16 + j] << 4);
      packed[g * 16 + 2 * j + 1] = static_cast<uint8_t>(from[8 + j] | from[24 + j] << 4);
    }
  }
}

uint32_t scan_neighbours(const ScanTable& table, const uint8_t* packed, const uint16_t* add,
                         const uint16_t* scale, float base, float threshold, float* out) {
  return HWY_DYNAMIC_DISPATCH(scan_neighbours)(table, packed, add, scale, base, threshold, out);
}

void nearest_of_16(const float* points, const float* centroids, size_t size, uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(nearest_of_16)(points, centroids, size, codes);
}

int32_t wide_dot(const int16_t* query, const int8_t* bytes, size_t dimension) {
  return HWY_DYNAMIC_DISPATCH(wide_dot)(query, bytes, dimension);
}

uint16_t to_float16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16U & 0x8000U;
  const float size = std::min(std::fabs(value), 65504.0F);
  if (size < 6.103515625e-5F) {  // subnormal: a multiple of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::lrint(size * 16777216.0F)));
  }
  const uint32_t wide = std::bit_cast<uint32_t>(size);
  const uint32_t rounded = wide + 0xFFFU + (wide >> 13U & 1U);
  return static_cast<uint16_t>(sign | ((rounded - (112U << 23U)) >> 13U));
}

float from_float16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16U;
  const uint32_t exponent = bits >> 10U & 31U;
  const uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) / 16777216.0F;
    return sign != 0 ? -size : size;
  }
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13U);
  }
  return std::bit_cast<float>(sign | (exponent + 112U) << 23U | fraction << 13U);
}

}  // namespace sibyl::simd
#endif
