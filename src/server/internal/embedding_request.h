#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::server {

/// The body of POST /v1/embeddings in OpenAI's form.
struct EmbeddingRequest {
  std::string model;
  std::vector<std::string> input;  ///< 1 to kTextsMax texts, each may be empty
  bool as_base64 = false;
  size_t dimensions = 0;  ///< 0: the model's own
};

/// InvalidArgument names the field; lists of token numbers and unknown keys are refused.
Result<EmbeddingRequest> parse_embedding_request(std::string_view body);

}  // namespace sibyl::server
