#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace sibyl::model {

enum class TensorType { F64, F32, F16, BF16, I64, I32, I16, I8, U8, Bool };
size_t element_bytes(TensorType type);
std::string_view type_name(TensorType type);

/// A tensor inside a mapped file; row-major, little-endian, maybe unaligned. Valid while the file
/// is.
struct TensorView {
  TensorType type = TensorType::F32;
  std::vector<uint64_t> shape;
  std::string_view bytes;
  uint64_t elements() const;
};

/// A safetensors file (huggingface/safetensors, format section of its README): 8-byte header
/// length, JSON header, buffer. Every length, offset, shape and key is checked when opened:
/// InvalidData with the tensor's name. Immutable, thread-safe.
class SafeTensors {
 public:
  static Result<std::shared_ptr<const SafeTensors>> open(
      const std::string& path, base::FileSystem& files = base::real_file_system());
  static Result<std::shared_ptr<const SafeTensors>> parse(
      std::shared_ptr<const base::FileView> file, const std::string& name);
  virtual ~SafeTensors() = default;
  /// nullptr when there is none.
  virtual const TensorView* find(std::string_view name) const = 0;
  virtual std::vector<std::string> names() const = 0;
  virtual const std::map<std::string, std::string>& metadata() const = 0;
};

/// Copies any numeric tensor to float32 (I8 by value, without a scale).
Result<std::vector<float>> to_floats(const TensorView& tensor);

struct NamedTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;  ///< written as F32
};
/// Atomically replaces the file; tensors in the order given, header padded to 8 bytes.
Result<void> write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                               const std::map<std::string, std::string>& metadata,
                               base::FileSystem& files = base::real_file_system());

}  // namespace sibyl::model
