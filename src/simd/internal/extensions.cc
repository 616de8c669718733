#include "simd/internal/extensions.h"

#include <atomic>

#include "simd/internal/targets.h"
// After targets.h, which says what is compiled.
#include <hwy/highway.h>

namespace sibyl::simd {
namespace {

std::atomic<bool> allowed_now{true};

Extensions detect() {
  Extensions found;
#if HWY_ARCH_X86_64
  // Highway also asks the operating system for the registers of the level.
  if ((hwy::SupportedTargets() & HWY_AVX3) != 0) {
    found.vnni = __builtin_cpu_supports("avx512vnni") != 0;
    found.popcount = __builtin_cpu_supports("avx512vpopcntdq") != 0;
  }
#endif
  return found;
}

}  // namespace

Extensions cpu_extensions() {
  static const Extensions detected = detect();
  return detected;
}

Extensions extensions() {
  return allowed_now.load(std::memory_order_relaxed) ? cpu_extensions() : Extensions{};
}

void allow_extensions(bool allowed) {
  cpu_extensions();  // Detected before the levels are narrowed.
  allowed_now.store(allowed, std::memory_order_relaxed);
}

}  // namespace sibyl::simd
