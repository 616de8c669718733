#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::index {

/// Anonymous memory on huge pages where the system gives them: random reads miss the page tables
/// less. Zeros at first. Empty when the system refuses; owners then read their file's map.
class HugeArena {
 public:
  HugeArena() = default;
  explicit HugeArena(size_t bytes);
  ~HugeArena();
  HugeArena(const HugeArena&) = delete;
  HugeArena& operator=(const HugeArena&) = delete;
  HugeArena(HugeArena&& other) noexcept;
  HugeArena& operator=(HugeArena&& other) noexcept;

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace sibyl::index
