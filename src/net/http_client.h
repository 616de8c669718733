#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::net {

struct HttpRequest {
  std::string method = "GET";
  std::string path;  ///< with query, from `/`
  std::string body;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
  int64_t timeout_ms = 120'000;            ///< whole request; 0: none (streams)
  uint64_t body_bytes_max = 256ULL << 20;  ///< of the reply, where it is not given in pieces
  int64_t stall_ms = 0;                    ///< longest silence of the peer; 0: any
};
struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// Where a client connects: "http://host:port", "https://…" or "unix:/path/to/socket".
struct HttpEndpoint {
  std::string url;
  std::string unix_socket;  ///< when not empty the TCP address of `url` is not used
  std::string api_key;      ///< sent as `Authorization: Bearer`; never logged
  std::string ca_file;      ///< empty: the system's
};

/// Keep-alive client of one endpoint over libcurl. Not thread-safe; make one a thread. A reply of
/// any status is a value; Unavailable when nobody answers, DeadlineExceeded, TooLarge, Interrupted.
class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> open(HttpEndpoint endpoint);
  virtual ~HttpClient() = default;
  virtual Result<HttpReply> send(const HttpRequest& request) = 0;
  /// Gives the body in pieces as they come (server-sent events) until it ends, `on_bytes` returns
  /// false or `stop` is requested. The reply's body is empty when the status is 2xx.
  virtual Result<HttpReply> stream(const HttpRequest& request,
                                   const std::function<bool(std::string_view)>& on_bytes,
                                   std::stop_token stop) = 0;
};

/// Percent-encodes everything but unreserved characters (RFC 3986 2.3).
std::string encode_uri_part(std::string_view text);
/// Empty result when an escape is broken.
Result<std::string> decode_uri_part(std::string_view text);

}  // namespace sibyl::net
