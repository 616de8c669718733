#include "server/internal/reply_head.h"

#include <array>
#include <chrono>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

namespace sibyl::server {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

/// "Mon, 30 Nov 2026 15:04:05 GMT" (RFC 9110 5.6.7).
std::string date_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 40> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text.data(), length};
}

}  // namespace

std::string reply_head(const Response& response, const ReplyForm& form) {
  std::string head;
  auto out = std::back_inserter(head);
  fmt::format_to(out, "HTTP/1.{} {} {}\r\nDate: {}\r\n", form.version % 10, response.status,
                 reason_of(response.status), date_now());
  if (!response.content_type.empty()) {
    fmt::format_to(out, "Content-Type: {}\r\n", response.content_type);
  }
  for (const auto& [name, value] : response.headers) {
    fmt::format_to(out, "{}: {}\r\n", name, value);
  }
  if (form.chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (!response.stream && !has_no_body(response.status)) {
    fmt::format_to(out, "Content-Length: {}\r\n", response.body.size());
  }
  if (!form.keep_alive) {
    head += "Connection: close\r\n";
  } else if (form.version < 11) {
    head += "Connection: keep-alive\r\n";
  }
  head += "\r\n";
  return head;
}

bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

}  // namespace sibyl::server
