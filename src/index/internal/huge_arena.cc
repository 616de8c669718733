#include "index/internal/huge_arena.h"

#include <utility>

#include <sys/mman.h>

namespace sibyl::index {
namespace {
constexpr size_t kHugePageBytes = size_t{2} << 20;
}

HugeArena::HugeArena(size_t bytes) {
  // Room to start at a huge page's border.
  mapped_bytes_ = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes + kHugePageBytes;
  void* mapped =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    mapped_bytes_ = 0;
    return;
  }
  mapped_ = mapped;
  auto* first = static_cast<uint8_t*>(mapped);
  data_ = first +
          (kHugePageBytes - reinterpret_cast<uintptr_t>(first) % kHugePageBytes) % kHugePageBytes;
  bytes_ = bytes;
  // Small pages do as well, only slower.
  (void)madvise(data_, bytes, MADV_HUGEPAGE);
}

HugeArena::~HugeArena() {
  if (mapped_ != nullptr) {
    (void)munmap(mapped_, mapped_bytes_);
  }
}

HugeArena::HugeArena(HugeArena&& other) noexcept {
  *this = std::move(other);
}

HugeArena& HugeArena::operator=(HugeArena&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace sibyl::index
