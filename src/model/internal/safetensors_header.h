#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/safetensors.h"

namespace sibyl::model {

/// The reference implementation's own limit.
inline constexpr uint64_t kHeaderBytesMax = 100'000'000;
inline constexpr size_t kTensorRankMax = 16;

/// What the JSON header says of one tensor; offsets count from the start of the buffer.
struct TensorEntry {
  std::string name;
  TensorType type = TensorType::F32;
  std::vector<uint64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct SafeTensorsHeader {
  std::vector<TensorEntry> entries;  ///< in the order of the buffer
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON header and checks it against the buffer's size: known types, no key twice, bytes
/// equal to type times shape without overflow, no hole, no overlap, nothing after the last tensor.
/// `name` is the file's name in errors.
Result<SafeTensorsHeader> parse_safetensors_header(std::string_view json, uint64_t buffer_bytes,
                                                   const std::string& name);

}  // namespace sibyl::model
