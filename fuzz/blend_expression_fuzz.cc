#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/pipeline.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const auto blend =
      answer::Blend::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (blend) {
    const std::vector<std::array<float, answer::kRetrievals>> features = {
        {0.5F, -0.25F, 0, 1}, {0, 0, 0, 0}, {3e38F, -3e38F, 1e-38F, 1}};
    for (const double score : (*blend)->scores(features)) {
      base::check(std::isfinite(score), "scores are ordered");
    }
  }
  return 0;
}
