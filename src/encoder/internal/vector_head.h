#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "encoder/internal/float_buffer.h"
#include "model/model_directory.h"

namespace sibyl::encoder {

/// What comes after a pooled or averaged vector: Dense and Normalize modules in order. Immutable,
/// thread-safe.
class VectorHead {
 public:
  /// `first` is the first module of `model` that belongs to the head.
  VectorHead(std::shared_ptr<const model::ModelDirectory> model, size_t first);

  /// `in` holds `count` vectors one after the other and may be overwritten; `out` takes the
  /// results.
  void run(std::vector<float>& in, size_t count, size_t width, float* out) const;

 private:
  std::shared_ptr<const model::ModelDirectory> model_;
  size_t first_;
};

}  // namespace sibyl::encoder
