#include "server/http.h"

#include <utility>

#include "base/json_writer.h"
#include "server/internal/replies.h"

namespace sibyl::server {
namespace {

std::string_view title_of(int status) {
  switch (status) {
    case 400:
      return "Bad request";
    case 401:
      return "Key missing or unknown";
    case 403:
      return "Forbidden";
    case 404:
      return "Not found";
    case 405:
      return "Method not allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Too large";
    case 415:
      return "Encoding not supported";
    case 417:
      return "Expectation failed";
    case 429:
      return "Too many requests";
    case 431:
      return "Header too large";
    case 501:
      return "Not built yet";
    case 503:
      return "Not available";
    case 504:
      return "Too late";
    case 507:
      return "Storage failed";
    default:
      return "Internal error";
  }
}

}  // namespace

void note_retry(Response& response) {
  if (response.status == 429 || response.status == 503) {
    response.headers["Retry-After"] = "1";
  }
}

Response json_response(int status, std::string body) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

Response problem(const Error& error) {
  return problem_with_status(http_status(error.code), error);
}

Response problem_with_status(int status, const Error& error) {
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  base::JsonWriter json(response.body);
  json.begin_object().key("type").text("about:blank").key("title").text(title_of(status));
  json.key("status").integer(status).key("detail").text(error.message);
  if (!error.field.empty()) {
    json.key("field").text(error.field);
  }
  json.key("code").text(code_name(error.code)).end_object();
  note_retry(response);
  return response;
}

Response openai_error(int status, const Error& error) {
  Response response;
  response.status = status;
  base::JsonWriter json(response.body);
  json.begin_object().key("error").begin_object();
  json.key("message").text(error.message);
  json.key("type").text(status < 500 ? "invalid_request_error" : "server_error");
  json.key("param");
  error.field.empty() ? json.null() : json.text(error.field);
  json.key("code").text(status == 404 && error.field == "model" ? "model_not_found"
                                                                : code_name(error.code));
  json.end_object().end_object();
  note_retry(response);
  return response;
}

Response empty_response(int status) {
  Response response;
  response.status = status;
  response.content_type.clear();
  return response;
}

}  // namespace sibyl::server
