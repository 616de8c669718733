#include "server/internal/protocol_errors.h"

#include <algorithm>
#include <array>

#include "server/internal/open_inference.h"
#include "server/internal/replies.h"
#include "server/internal/seldon_message.h"

namespace sibyl::server {
namespace {

constexpr std::array<std::string_view, 13> kSeldonPaths = {
    "/predict",     "/send-feedback",   "/metadata",         "/health/status", "/health/ping",
    "/seldon.json", "/transform-input", "/transform-output", "/route",         "/aggregate",
    "/seldon/",     "/api/v0.1/",       "/api/v1.0/"};

bool lies_at(std::string_view path, std::string_view address) {
  return address.ends_with('/') ? path.starts_with(address) : path == address;
}

}  // namespace

Protocol protocol_of(std::string_view path) {
  if (path == "/v1/embeddings" || path == "/v1/models" || path.starts_with("/v1/models/")) {
    return Protocol::OpenAi;
  }
  if (path == "/v2" || path.starts_with("/v2/")) {
    return Protocol::OpenInference;
  }
  const bool seldon = std::ranges::any_of(
      kSeldonPaths, [path](std::string_view address) { return lies_at(path, address); });
  return seldon ? Protocol::Seldon : Protocol::Problem;
}

Response error_response(std::string_view path, int status, const Error& error) {
  Response response;
  switch (protocol_of(path)) {
    case Protocol::OpenAi:
      return openai_error(status, error);
    case Protocol::Problem:
      return problem_with_status(status, error);
    case Protocol::OpenInference:
      response = open_inference_error(status, error);
      break;
    case Protocol::Seldon:
      response = seldon_error(status, error);
      break;
  }
  note_retry(response);
  return response;
}

Response error_response(std::string_view path, const Error& error) {
  return error_response(path, http_status(error.code), error);
}

}  // namespace sibyl::server
