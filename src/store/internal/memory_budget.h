#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/result.h"

namespace sibyl::store {

/// What merges, builds and indexes of a database may hold in memory together. Thread-safe.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  /// A share that was granted; given back when it goes.
  class Share {
   public:
    Share(std::shared_ptr<MemoryBudget> budget, uint64_t bytes)
        : budget_(std::move(budget)), bytes_(bytes) {}
    ~Share() { budget_->give_back(bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    std::shared_ptr<MemoryBudget> budget_;
    uint64_t bytes_;
  };

  /// 0: half of the memory that this process may use.
  static std::shared_ptr<MemoryBudget> create(uint64_t bytes_max);

  /// ResourceExhausted with what is needed, what is free and the limit's name.
  Result<std::shared_ptr<const Share>> take(uint64_t bytes, std::string_view what);
  uint64_t free_bytes() const;
  uint64_t bytes_max() const { return bytes_max_; }

 private:
  explicit MemoryBudget(uint64_t bytes_max) : bytes_max_(bytes_max) {}
  void give_back(uint64_t bytes);

  const uint64_t bytes_max_;
  mutable std::mutex mutex_;
  uint64_t taken_ = 0;  ///< guarded by mutex_
};

/// Memory of the machine, or what a control group leaves this process of it.
uint64_t usable_memory_bytes();

}  // namespace sibyl::store
