#pragma once

#include <cstddef>
#include <memory>

namespace sibyl::encoder {

/// Floats on a 64-byte border, huge pages where the system gives them and the buffer is large:
/// weights are read from end to end for every question. Moves; contents are zero after `reset`.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(size_t count) { reset(count); }

  /// Throws std::bad_alloc, as containers do.
  void reset(size_t count);
  /// Grows to at least `count`, dropping the contents when it must.
  void reserve(size_t count) {
    if (count > count_) {
      reset(count);
    }
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(float* pointer) const;
  };
  std::unique_ptr<float, Free> data_;
  size_t count_ = 0;
};

}  // namespace sibyl::encoder
