#pragma once

// Instruction sets that every kernel file is compiled for: AVX-512, AVX2, SSE4, a portable fallback
// (x86-64) and NEON (Arm). Include before any Highway header, so that all files agree.

// SSSE3 machines fall back; SVE's vectors have no size, and kernels here keep arrays of vectors.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
