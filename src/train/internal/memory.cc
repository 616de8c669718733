#include "train/internal/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace sibyl::train {
namespace {

constexpr uint64_t kFallbackBytes = uint64_t{1} << 30;

/// A number alone in a file; `otherwise` for "max", a missing or another file.
uint64_t number_in(const char* path, uint64_t otherwise) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : otherwise;
}

}  // namespace

uint64_t available_memory_bytes() {
  uint64_t available = kFallbackBytes;
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  uint64_t kib = 0;
  std::string unit;
  while (meminfo >> key >> kib && std::getline(meminfo, unit)) {
    if (key == "MemAvailable:") {
      available = kib << 10U;
      break;
    }
  }
  const uint64_t limit = number_in("/sys/fs/cgroup/memory.max", UINT64_MAX);
  const uint64_t used = number_in("/sys/fs/cgroup/memory.current", 0);
  if (limit != UINT64_MAX) {
    available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

}  // namespace sibyl::train
