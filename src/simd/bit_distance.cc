#include <bit>
#include <cstring>

#include "simd/code_distance.h"
#include "simd/internal/extensions.h"
#include "simd/internal/popcount.h"
#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/bit_distance.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

struct Differ {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Xor(a, b);
  }
  static uint64_t combine(uint64_t a, uint64_t b) { return a ^ b; }
};

struct Common {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::And(a, b);
  }
  static uint64_t combine(uint64_t a, uint64_t b) { return a & b; }
};

/// The last bytes, fewer than a register.
template <class Operation>
HWY_INLINE int32_t count_rest(const uint8_t* query, const uint8_t* row, size_t bytes) {
  int32_t sum = 0;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t a = 0;
    uint64_t b = 0;
    const size_t some = std::min<size_t>(8, bytes - i);
    std::memcpy(&a, query + i, some);
    std::memcpy(&b, row + i, some);
    sum += std::popcount(Operation::combine(a, b));
  }
  return sum;
}

#if HWY_TARGET == HWY_SCALAR

template <class Operation>
struct Count {
  template <size_t kRows>
  static void run(const uint8_t* query, const uint8_t* const* rows, size_t bytes, int32_t* out) {
    for (size_t r = 0; r < kRows; ++r) {
      out[r] = count_rest<Operation>(query, rows[r], bytes);
    }
  }
};

#else

template <class Operation>
struct Count {
  template <size_t kRows>
  static HWY_INLINE void run(const uint8_t* query, const uint8_t* const* rows, size_t bytes,
                             int32_t* out) {
    using Bytes = hn::ScalableTag<uint8_t>;
    const Bytes d;
    const hn::Repartition<uint64_t, Bytes> wide;
    hn::Vec<decltype(wide)> sums[kRows];
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      sums[r] = hn::Zero(wide);
    }
    size_t i = 0;
    for (; i + HWY_MAX_BYTES <= bytes; i += HWY_MAX_BYTES) {
      const auto q = hn::LoadU(d, query + i);
      SIBYL_SIMD_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const auto both = Operation::combine(q, hn::LoadU(d, rows[r] + i));
        sums[r] = hn::Add(sums[r], hn::SumsOf8(hn::PopulationCount(both)));
      }
    }
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      out[r] = static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(wide, sums[r]))) +
               count_rest<Operation>(query + i, rows[r] + i, bytes - i);
    }
  }
};

#endif

void bit_distance_bytes(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                        size_t bytes, int32_t* out) {
  many_rows<Count<Differ>>(query, base, rows, stride, bytes, out);
}

void bit_dot_bytes(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                   size_t bytes, int32_t* out) {
  many_rows<Count<Common>>(query, base, rows, stride, bytes, out);
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(bit_distance_bytes);
HWY_EXPORT(bit_dot_bytes);

void bit_distance_many(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                       size_t dimension, int32_t* out) {
  const size_t bytes = (dimension + 7) / 8;
  if (extensions().popcount) {
    popcount::bit_distance_bytes(query, base, rows, stride, bytes, out);
  } else {
    HWY_DYNAMIC_DISPATCH(bit_distance_bytes)(query, base, rows, stride, bytes, out);
  }
}

void bit_dot_many(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                  size_t dimension, int32_t* out) {
  const size_t bytes = (dimension + 7) / 8;
  if (extensions().popcount) {
    popcount::bit_dot_bytes(query, base, rows, stride, bytes, out);
  } else {
    HWY_DYNAMIC_DISPATCH(bit_dot_bytes)(query, base, rows, stride, bytes, out);
  }
}

}  // namespace sibyl::simd
#endif
