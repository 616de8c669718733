#pragma once

#include <gtest/gtest.h>

#include "simd/internal/extensions.h"
#include "simd/internal/targets.h"
// After targets.h, which says what is compiled.
#include <hwy/highway.h>

namespace sibyl::simd {

/// Runs a test body on every instruction set that this CPU and the build have, best first; where
/// the CPU has more than the level of Highway, with it and without.
template <class Body>
void at_every_level(Body body) {
  {
    SCOPED_TRACE("everything");
    body();
  }
  allow_extensions(false);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
    hwy::SetSupportedTargetsForTest(0);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  allow_extensions(true);
}

}  // namespace sibyl::simd
