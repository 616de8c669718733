#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "encoder/internal/remote_protocol.h"

namespace {

using sibyl::Result;
using sibyl::encoder::RemoteVectors;
using sibyl::encoder::ReplyLimits;

void check_vectors(const Result<RemoteVectors>& reply, const ReplyLimits& limits) {
  if (!reply) {
    return;
  }
  sibyl::base::check(reply->dimension >= 1 && reply->dimension <= limits.dimension_max &&
                         reply->vectors.size() == limits.texts * reply->dimension,
                     "a reply has a vector a text");
  for (const float value : reply->vectors) {
    sibyl::base::check(std::isfinite(value), "vectors are finite");
  }
  sibyl::base::check(!reply->version.empty(), "a reply has a version");
}

}  // namespace

/// First byte: how many texts were sent; second: where the JSON of a binary reply ends.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl::encoder;
  if (size < 2) {
    return 0;
  }
  const ReplyLimits limits{static_cast<size_t>(data[0] % 4), 64};
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  check_vectors(parse_seldon_reply(body, limits), limits);
  check_vectors(parse_inference_reply(body, "", limits), limits);
  check_vectors(parse_inference_reply(body, std::to_string(data[1]), limits), limits);
  check_vectors(parse_inference_reply(body, std::to_string(body.size() - data[1] % 65), limits),
                limits);
  sibyl::base::check(error_words(body).size() <= 200, "words are few");
  if (const auto address = parse_remote_address(body)) {
    sibyl::base::check(address->path.starts_with('/'), "a path is absolute");
  }
  return 0;
}
