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

Extensions extensions() {
  static const Extensions detected = detect();
  return allowed_now.load(std::memory_order_relaxed) ? detected : Extensions{};
}

void allow_extensions(bool allowed) {
  extensions();  // Detected before a test narrows the levels.
  allowed_now.store(allowed, std::memory_order_relaxed);
}

}  // namespace sibyl::simd
