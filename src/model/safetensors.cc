#include "model/safetensors.h"

#include <cstring>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/json.h"
#include "model/internal/float_types.h"
#include "model/internal/safetensors_header.h"

namespace sibyl::model {

namespace {

constexpr size_t kLengthBytes = 8;

class MappedTensors final : public SafeTensors {
 public:
  MappedTensors(std::shared_ptr<const base::FileView> file, SafeTensorsHeader header,
                std::string_view buffer)
      : file_(std::move(file)), metadata_(std::move(header.metadata)) {
    for (TensorEntry& entry : header.entries) {
      names_.push_back(entry.name);
      tensors_.emplace(std::move(entry.name),
                       TensorView{entry.type, std::move(entry.shape),
                                  buffer.substr(entry.begin, entry.end - entry.begin)});
    }
  }

  const TensorView* find(std::string_view name) const override {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> names() const override { return names_; }
  const std::map<std::string, std::string>& metadata() const override { return metadata_; }

 private:
  std::shared_ptr<const base::FileView> file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> metadata_;
};

template <class T>
void copy_values(std::string_view bytes, std::vector<float>& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(value);
  }
}

template <class Convert>
void copy_halves(std::string_view bytes, std::vector<float>& out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    out[i] = convert(value);
  }
}

std::string header_json(const std::vector<NamedTensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  base::Json header = base::Json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  uint64_t at = 0;
  for (const NamedTensor& tensor : tensors) {
    const uint64_t end = at + tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string json = base::dump_json(header);
  json.append((kLengthBytes - json.size() % kLengthBytes) % kLengthBytes, ' ');
  return json;
}

Result<void> check_tensors(const std::vector<NamedTensor>& tensors) {
  std::map<std::string_view, bool> seen;
  for (const NamedTensor& tensor : tensors) {
    uint64_t elements = 1;
    for (const uint64_t length : tensor.shape) {
      if (__builtin_mul_overflow(elements, length, &elements)) {
        return fail(Code::InvalidArgument, "tensor '{}': shape [{}] is too large", tensor.name,
                    fmt::join(tensor.shape, ", "));
      }
    }
    if (elements != tensor.values.size()) {
      return fail(Code::InvalidArgument, "tensor '{}': {} values do not fill the shape [{}]",
                  tensor.name, tensor.values.size(), fmt::join(tensor.shape, ", "));
    }
    if (tensor.name == "__metadata__" || !seen.emplace(tensor.name, true).second) {
      return fail(Code::InvalidArgument, "tensor name '{}' is reserved or stands twice",
                  tensor.name);
    }
  }
  return {};
}

Result<void> append_all(base::WritableFile& file, const std::vector<NamedTensor>& tensors,
                        const std::string& header) {
  std::string start;
  base::put_u64(start, header.size());
  start += header;
  auto written = file.append(start);
  for (size_t i = 0; written && i < tensors.size(); ++i) {
    const std::vector<float>& values = tensors[i].values;
    written =
        file.append({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  if (written) {
    written = file.sync();
  }
  auto closed = file.close();
  return written ? closed : written;
}

}  // namespace

size_t element_bytes(TensorType type) {
  switch (type) {
    case TensorType::F64:
    case TensorType::I64:
      return 8;
    case TensorType::F32:
    case TensorType::I32:
      return 4;
    case TensorType::F16:
    case TensorType::BF16:
    case TensorType::I16:
      return 2;
    case TensorType::I8:
    case TensorType::U8:
    case TensorType::Bool:
      return 1;
  }
  return 1;
}

uint64_t TensorView::elements() const {
  return bytes.size() / element_bytes(type);
}

Result<std::shared_ptr<const SafeTensors>> SafeTensors::open(const std::string& path,
                                                             base::FileSystem& files) {
  auto file = files.map(path);
  if (!file) {
    return pass_on(file);
  }
  return parse(*file, path);
}

Result<std::shared_ptr<const SafeTensors>> SafeTensors::parse(
    std::shared_ptr<const base::FileView> file, const std::string& name) {
  const std::string_view bytes = file->bytes();
  if (bytes.size() < kLengthBytes) {
    return fail(Code::InvalidData,
                "{}: {} bytes are no safetensors file; it begins with 8 bytes "
                "of header length",
                name, bytes.size());
  }
  base::ByteReader reader(bytes.substr(0, kLengthBytes));
  const uint64_t header_bytes = reader.u64();
  if (header_bytes > kHeaderBytesMax || header_bytes > bytes.size() - kLengthBytes) {
    return fail(Code::InvalidData,
                "{}: the header would be {} bytes of a file of {} (limit {}); this is no "
                "safetensors file, or it is cut",
                name, header_bytes, bytes.size(), kHeaderBytesMax);
  }
  const std::string_view buffer = bytes.substr(kLengthBytes + header_bytes);
  auto header =
      parse_safetensors_header(bytes.substr(kLengthBytes, header_bytes), buffer.size(), name);
  if (!header) {
    return pass_on(header);
  }
  return std::make_shared<const MappedTensors>(std::move(file), std::move(*header), buffer);
}

Result<std::vector<float>> to_floats(const TensorView& tensor) {
  std::vector<float> out(tensor.elements());
  switch (tensor.type) {
    case TensorType::F64:
      copy_values<double>(tensor.bytes, out);
      return out;
    case TensorType::F32:
      copy_values<float>(tensor.bytes, out);
      return out;
    case TensorType::F16:
      copy_halves(tensor.bytes, out, float_from_f16);
      return out;
    case TensorType::BF16:
      copy_halves(tensor.bytes, out, float_from_bf16);
      return out;
    case TensorType::I64:
      copy_values<int64_t>(tensor.bytes, out);
      return out;
    case TensorType::I32:
      copy_values<int32_t>(tensor.bytes, out);
      return out;
    case TensorType::I16:
      copy_values<int16_t>(tensor.bytes, out);
      return out;
    case TensorType::I8:
      copy_values<int8_t>(tensor.bytes, out);
      return out;
    case TensorType::U8:
      copy_values<uint8_t>(tensor.bytes, out);
      return out;
    case TensorType::Bool:
      break;
  }
  return fail(Code::InvalidData, "a tensor of type {} is not numeric", type_name(tensor.type));
}

Result<void> write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                               const std::map<std::string, std::string>& metadata,
                               base::FileSystem& files) {
  auto checked = check_tensors(tensors);
  if (!checked) {
    return pass_on(checked);
  }
  const std::string beside = path + ".part";
  auto file = files.create(beside);
  if (!file) {
    return pass_on(file);
  }
  auto written = append_all(**file, tensors, header_json(tensors, metadata));
  if (written) {
    written = files.rename(beside, path);
  }
  if (!written) {
    // The first failure is the one to report; the half-written file must not stay on a full disk.
    static_cast<void>(files.remove(beside));
    return pass_on(written);
  }
  const size_t slash = path.rfind('/');
  return files.sync_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

}  // namespace sibyl::model
