// Requests of the Open Inference Protocol: JSON, the binary extension, gRPC messages. The first
// byte says how long the JSON header is, so that both halves change.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/internal/inference_service.h"
#include "server/internal/model_source.h"
#include "server/internal/open_inference.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sibyl::server::parse_infer_request(bytes, {});
  sibyl::server::version_of_pointer(bytes);
  sibyl::server::parse_model_address(bytes);
  if (size > 0) {
    const std::string header = R"({"inputs":[{"name":"text","datatype":"BYTES","shape":[)" +
                               std::to_string(data[0]) + R"(],"parameters":{"binary_data_size":)" +
                               std::to_string(size - 1) + "}}]}";
    sibyl::server::parse_infer_request(header + std::string(bytes.substr(1)),
                                       std::to_string(header.size()));
    const size_t length = std::min<size_t>(data[0], size - 1);
    sibyl::server::parse_infer_request(bytes.substr(1), std::to_string(length));
    sibyl::server::read_raw_texts(bytes.substr(1), data[0]);
  }
  inference::ModelInferRequest message;
  if (message.ParseFromArray(data, static_cast<int>(size))) {
    sibyl::server::read_infer_message(message);
  }
  return 0;
}
