#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoder/encoder.h"
#include "encoder/remote_encoder.h"
#include "net/http_client.h"

namespace sibyl::encoder {

/// What a model server's reply holds, checked: as many vectors as there were texts, all of one
/// dimension, every number finite.
struct RemoteVectors {
  std::string model;    ///< as the reply names it
  std::string version;  ///< 1 to 64 of letters, digits, '.', '_', '-'
  size_t dimension = 0;
  std::vector<float> vectors;  ///< [texts x dimension]
};

/// What a reply is checked against.
struct ReplyLimits {
  size_t texts = 0;
  size_t dimension_max = 32768;
};

/// `{"data": {"names": ["text"], "ndarray": [["one"], ["two"]]}, "meta": {"tags": {"kind":
/// "question"}}}`: servers that know prompts put the one of the kind before the texts.
net::HttpRequest make_seldon_request(const RemoteAddress& address,
                                     std::span<const std::string_view> texts, TextKind kind);
/// `data.ndarray` with a vector a row, bare or in a list of one, or `data.tensor` of shape
/// [texts, dimension]; `meta.tags.model` and `meta.tags.version`.
Result<RemoteVectors> parse_seldon_reply(std::string_view body, const ReplyLimits& limits);

/// Input `text`, BYTES, as JSON, which every server reads; `binary` asks for the output's raw
/// bytes, which servers without the extension ignore.
net::HttpRequest make_inference_request(const RemoteAddress& address,
                                        std::span<const std::string_view> texts, TextKind kind,
                                        bool binary);
/// Output `vector` (or the only one), FP32 or FP64, as JSON numbers or raw little-endian bytes
/// behind the JSON, whose length `Inference-Header-Content-Length` gives (empty: all is JSON).
Result<RemoteVectors> parse_inference_reply(std::string_view body, std::string_view header_length,
                                            const ReplyLimits& limits);

/// The words in which a server's error reply says what is wrong, of either protocol, at most 200
/// bytes of printable text; empty when it says nothing.
std::string error_words(std::string_view body);

}  // namespace sibyl::encoder
