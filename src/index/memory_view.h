#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"

namespace sibyl::index {

/// Bytes in memory as a file's view: for files that were just made, and for tests.
class MemoryView final : public base::FileView {
 public:
  explicit MemoryView(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view bytes() const override { return bytes_; }

 private:
  std::string bytes_;
};

inline std::shared_ptr<const base::FileView> memory_view(std::string bytes) {
  return std::make_shared<const MemoryView>(std::move(bytes));
}

}  // namespace sibyl::index
