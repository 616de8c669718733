#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sibyl::simd {

// Scores of packed codes by table lookup ("Quicker ADC", André et al. 2018): a code is a row of
// 4-bit groups, a query gives every group a table of 16 small numbers, and the score of a code is
// the sum of what its groups look up, 32 codes at a time inside registers. Thread-safe.

/// Codes that are packed and looked up together.
inline constexpr size_t kFastScanCodes = 32;
/// Largest entry of a table: eight of them are added in one byte.
inline constexpr uint8_t kFastScanEntryMax = 31;
/// Groups come in fours, so that whole registers are read; what is missing is filled with 0.
inline constexpr size_t kFastScanGroupsStep = 4;

/// Bytes of 32 packed codes.
constexpr size_t fast_scan_block_bytes(size_t groups) {
  return groups * kFastScanCodes / 2;
}

/// Packs 32 codes, [32 x groups] numbers below 16, into `block` of fast_scan_block_bytes(groups):
/// byte j of group g holds code j in its low half and code j + 16 in its high half.
void fast_scan_pack(const uint8_t* codes, size_t groups, uint8_t* block);

/// sums[32 i + j] = sum over the groups g of table[16 g + (group g of code j of block i)]. Blocks
/// lie `stride` bytes apart; `table` is [groups x 16], no entry above kFastScanEntryMax.
void fast_scan(const uint8_t* blocks, size_t stride, size_t count, size_t groups,
               const uint8_t* table, uint32_t* sums);

/// How the sums of a quantised table become what they stand for: step * sum + base.
struct FastScanScale {
  float step = 0;
  float base = 0;
};

/// The table of a query for codes of signs: bit b of group g is 1 where coordinate 4 g + b is not
/// negative, and the entries stand for the sum of the four numbers of `query` with those signs.
/// `query` is [4 x groups] finite numbers, `table` [groups x 16].
FastScanScale sign_table(std::span<const float> query, uint8_t* table);

/// Groups of signs from numbers, one a byte: [numbers / 4] as fast_scan_pack takes them.
void sign_codes(std::span<const float> numbers, uint8_t* codes);

/// Blocks of 32 codes with two numbers each that make a sum of signs a score.
struct FastScanBlocks {
  /// Block i lies at codes + i * stride: fast_scan_block_bytes(groups) of packed codes, then
  /// 32 offsets and 32 gains, all float. A code whose offset is NaN is never found.
  const uint8_t* codes = nullptr;
  size_t stride = 0;
  size_t groups = 0;
  const float* errors = nullptr;  ///< One a block, in units of the gains.
};

/// A query against such blocks. The score of code j of block i is at most
///   offset_share * offset[j] + gain[j] * (step * sum + base + error_share * error[i]).
struct FastScanQuery {
  const uint8_t* table = nullptr;  ///< [groups x 16]
  FastScanScale scale;
  float offset_share = 1;
  float error_share = 0;
};

/// Bounds of blocks [first, first + count): bounds[32 i + j], and best[i], the greatest of the
/// block that is a number, or -3.4e38. With `masks` (one a block, bit j for code j; may be null)
/// codes whose bit is clear have the bound NaN. Blocks of few bits are not looked up: these codes
/// have the bound infinity, and where no bit is set best[i] is NaN and the bounds are left as they
/// were.
void fast_scan_bounds(const FastScanBlocks& blocks, size_t first, size_t count,
                      const FastScanQuery& query, const uint32_t* masks, float* bounds,
                      float* best);
/// Blocks with at most so many bits of their mask are not looked up.
inline constexpr int kFastScanFewBits = 1;

/// Bit j is set where bounds[j] >= threshold, j < 32; NaN is not.
uint32_t at_least(const float* bounds, float threshold);

}  // namespace sibyl::simd
