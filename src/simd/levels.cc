#include "simd/levels.h"

#include "simd/internal/extensions.h"
#include "simd/internal/targets.h"
// After targets.h, which says what is compiled.
#include <hwy/highway.h>

namespace sibyl::simd {
namespace {

constexpr std::string_view kExtended = " + VNNI";

/// Levels of the CPU itself, whatever was chosen since.
const std::vector<int64_t>& targets() {
  static const std::vector<int64_t> found = hwy::SupportedAndGeneratedTargets();
  return found;
}

void choose(int64_t target, bool with_extensions) {
  allow_extensions(with_extensions);
  hwy::SetSupportedTargetsForTest(target == targets().front() ? 0 : target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string> kernel_levels() {
  const std::vector<int64_t>& found = targets();
  std::vector<std::string> names;
  if (cpu_extensions().vnni) {
    names.push_back(hwy::TargetName(found.front()) + std::string(kExtended));
  }
  for (const int64_t target : found) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

bool choose_kernels(std::string_view level) {
  const std::vector<int64_t>& found = targets();
  if (cpu_extensions().vnni && level == hwy::TargetName(found.front()) + std::string(kExtended)) {
    choose(found.front(), true);
    return true;
  }
  for (const int64_t target : found) {
    if (level == hwy::TargetName(target)) {
      choose(target, false);
      return true;
    }
  }
  return false;
}

}  // namespace sibyl::simd
