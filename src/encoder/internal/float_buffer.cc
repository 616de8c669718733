#include "encoder/internal/float_buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace sibyl::encoder {

namespace {

constexpr size_t kLineBytes = 64;
constexpr size_t kHugePageBytes = 2ULL << 20;

}  // namespace

void FloatBuffer::Free::operator()(float* pointer) const {
  std::free(pointer);
}

void FloatBuffer::reset(size_t count) {
  data_.reset();
  count_ = 0;
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(float), &bytes)) {
    throw std::bad_alloc();
  }
  const size_t border = bytes >= kHugePageBytes ? kHugePageBytes : kLineBytes;
  const size_t rounded = (bytes + border - 1) / border * border;
  if (rounded < bytes) {
    throw std::bad_alloc();
  }
  void* memory = std::aligned_alloc(border, rounded == 0 ? border : rounded);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  if (border == kHugePageBytes) {
    // Advice only: without huge pages the buffer works the same, more slowly.
    static_cast<void>(::madvise(memory, rounded, MADV_HUGEPAGE));
  }
  std::memset(memory, 0, rounded);
  data_.reset(static_cast<float*>(memory));
  count_ = count;
}

}  // namespace sibyl::encoder
