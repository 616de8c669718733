#pragma once

namespace sibyl::simd {

/// Instructions beyond Highway's AVX-512 level that kernels with intrinsics of their own use.
struct Extensions {
  bool vnni = false;      ///< AVX512_VNNI: products of bytes, added in fours.
  bool popcount = false;  ///< AVX512_VPOPCNTDQ.
};

/// What this CPU has.
Extensions cpu_extensions();
/// The same; nothing while kernels of a lower level are chosen.
Extensions extensions();

/// False makes extensions() empty.
void allow_extensions(bool allowed);

}  // namespace sibyl::simd
