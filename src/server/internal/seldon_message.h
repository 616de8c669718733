#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"
#include "server/internal/prediction.h"

namespace sibyl::server {

/// How a SeldonMessage carried its texts, and how its reply carries the vectors.
enum class SeldonForm {
  Rows,  ///< data.ndarray, a row a text
  Text,  ///< strData
  Json,  ///< jsonData {"texts": [...]}
};

inline constexpr size_t kPuidBytesMax = 256;

/// A SeldonMessage that asks for vectors (Seldon Core v1, prediction.proto of 1.17.1).
struct SeldonRequest {
  std::vector<std::string> texts;  ///< 1 to kTextsMax
  SeldonForm form = SeldonForm::Rows;
  std::string puid;  ///< the request's id, repeated in the reply
  /// Chooses the model's prompt; `meta.tags.kind` of the request.
  encoder::TextKind kind = encoder::TextKind::Document;
};

/// Reads the message's JSON. InvalidArgument names the field; tensors, binary and custom data are
/// refused, since they hold no text.
Result<SeldonRequest> parse_seldon_request(std::string_view json);

/// Where a request over HTTP has its message: the body, or `json=` in a form or in the query.
Result<std::string> seldon_json_of(const Request& request);

std::string seldon_reply(const SeldonRequest& request, const Prediction& prediction);

/// Refusals that both transports have: what kind of data holds no text.
Error refused_seldon_data(std::string_view kind);
/// The reason that Seldon's own wrapper gives for an HTTP status.
std::string_view seldon_reason(int status);
/// Counts the reward of a feedback; one that is no number counts as none.
void count_reward(double reward);
Response seldon_error(int status, const Error& error);

}  // namespace sibyl::server
