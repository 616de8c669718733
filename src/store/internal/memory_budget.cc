#include "store/internal/memory_budget.h"

#include <algorithm>
#include <charconv>

#include <unistd.h>

#include "base/file_system.h"

namespace sibyl::store {
namespace {

constexpr const char* kGroupLimits[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
constexpr uint64_t kLimitTextBytesMax = 64;
constexpr double kMebibyte = 1024.0 * 1024.0;

double mebibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / kMebibyte;
}

}  // namespace

uint64_t usable_memory_bytes() {
  auto bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
               static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const char* const path : kGroupLimits) {
    const Result<std::string> text = base::read_file(path, kLimitTextBytesMax);
    uint64_t limit = 0;
    // "max" where there is no limit.
    if (text &&
        std::from_chars(text->data(), text->data() + text->size(), limit).ec == std::errc() &&
        limit > 0) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

std::shared_ptr<MemoryBudget> MemoryBudget::create(uint64_t bytes_max) {
  return std::shared_ptr<MemoryBudget>(
      new MemoryBudget(bytes_max != 0 ? bytes_max : usable_memory_bytes() / 2));
}

Result<std::shared_ptr<const MemoryBudget::Share>> MemoryBudget::take(uint64_t bytes,
                                                                      std::string_view what) {
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_max_ - taken_) {
    return fail_field(Code::ResourceExhausted, "memory_bytes_max",
                      "{} needs {:.1f} MiB of memory; {:.1f} of {:.1f} MiB are free "
                      "(memory_bytes_max)",
                      what, mebibytes(bytes), mebibytes(bytes_max_ - taken_),
                      mebibytes(bytes_max_));
  }
  taken_ += bytes;
  return std::make_shared<const Share>(shared_from_this(), bytes);
}

uint64_t MemoryBudget::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_max_ - taken_;
}

void MemoryBudget::give_back(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
}

}  // namespace sibyl::store
