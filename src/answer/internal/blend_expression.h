#pragma once

#include <string_view>
#include <vector>

#include "answer/pipeline.h"

namespace sibyl::answer::internal {

inline constexpr size_t kBlendBytesMax = 4096;
inline constexpr size_t kBlendDepthMax = 32;

/// One step of a compiled blend: a stack machine, so that scoring needs no recursion.
struct BlendStep {
  enum class Kind : uint8_t {
    Number,
    Feature,  ///< the candidate's own
    Max,      ///< over the question's candidates
    Min,
    Count,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate
  };
  Kind kind = Kind::Number;
  uint8_t retrieval = 0;
  double number = 0;
};

/// Reverse Polish steps of an expression; errors name the position from 1.
Result<std::vector<BlendStep>> compile_blend(std::string_view text);

}  // namespace sibyl::answer::internal
