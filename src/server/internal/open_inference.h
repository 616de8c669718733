#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"
#include "server/internal/prediction.h"

namespace sibyl::server {

// The Open Inference Protocol v2 over HTTP, with its binary extension: a JSON header of
// `Inference-Header-Content-Length` bytes, behind it the tensors that its parameters announce.

inline constexpr std::string_view kTextTensor = "text";
inline constexpr std::string_view kVectorTensor = "vector";
inline constexpr std::string_view kPlatform = "sibyl";
inline constexpr const char* kInferenceHeaderLength = "Inference-Header-Content-Length";

/// What a request asks, whichever transport it came by.
struct InferRequest {
  std::string id;
  std::vector<std::string> texts;  ///< 1 to kTextsMax, UTF-8
  bool binary_output = false;      ///< the vectors as raw little-endian float32
  /// Chooses the model's prompt; `parameters.kind` of the request.
  encoder::TextKind kind = encoder::TextKind::Document;
};

/// How a request describes one input.
struct TensorHead {
  std::string_view name;
  std::string_view datatype;
  std::span<const int64_t> shape;
};
/// The number of texts of the one input there may be; InvalidArgument says what it must look like.
Result<size_t> check_text_tensor(const TensorHead& tensor);
/// Refuses any other output than the vectors.
Result<void> check_output_name(std::string_view name);
/// BYTES in raw form: `count` times four bytes of length (little-endian) and the bytes of a text.
Result<std::vector<std::string>> read_raw_texts(std::string_view raw, size_t count);
/// InvalidArgument naming the first text that is no UTF-8.
Result<void> check_utf8(const std::vector<std::string>& texts);

/// Reads a body. `header_bytes` is the value of Inference-Header-Content-Length; without it the
/// whole body is JSON.
Result<InferRequest> parse_infer_request(std::string_view body,
                                         std::optional<std::string_view> header_bytes);

/// `model` is what the request called it.
Response infer_reply(const InferRequest& request, const Prediction& prediction,
                     std::string_view model);
/// {"error": "…"}
Response open_inference_error(int status, const Error& error);

}  // namespace sibyl::server
