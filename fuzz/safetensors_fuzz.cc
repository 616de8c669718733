#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "model/safetensors.h"

namespace {

class BytesView final : public sibyl::base::FileView {
 public:
  explicit BytesView(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view bytes() const override { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

/// Any bytes are refused or give tensors that lie inside the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = std::make_shared<BytesView>(std::string(reinterpret_cast<const char*>(data), size));
  const auto tensors = sibyl::model::SafeTensors::parse(file, "fuzz");
  if (tensors) {
    for (const std::string& name : (*tensors)->names()) {
      const auto* tensor = (*tensors)->find(name);
      const auto floats = sibyl::model::to_floats(*tensor);
      if (floats && floats->size() != tensor->elements()) {
        __builtin_trap();
      }
    }
  }
  return 0;
}
