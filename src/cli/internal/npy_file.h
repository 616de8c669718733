#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "base/result.h"

namespace sibyl::cli {

/// A float32 array [rows x dimension] in NumPy's format 1.0, written row by row: the header has
/// room for any count and is filled in at the end. The file appears whole, by rename.
class NpyFile {
 public:
  Result<void> open(const std::string& path, uint64_t dimension);
  Result<void> add(std::span<const float> values);
  Result<void> finish();

 private:
  Result<void> write_header();

  std::string path_;
  std::string beside_;
  std::ofstream file_;
  uint64_t dimension_ = 0;
  uint64_t values_ = 0;
};

}  // namespace sibyl::cli
