#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sibyl::server {

/// Where a request came from: key, Host and Origin checks hold for TCP alone.
enum class Peer { Tcp, UnixSocket, InProcess };

/// Which workers run a request: at once on the socket's thread (health), beside the questions, or
/// with the long ones (adding, importing, compacting).
enum class Lane { Immediate, Quick, Long };

struct Request {
  std::string method;
  std::string path;                            ///< decoded segments are the router's work
  std::map<std::string, std::string> query;    ///< decoded
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
  Peer peer = Peer::Tcp;
  std::string id;  ///< X-Request-Id, given or made
};

/// Writes one piece of a stream; false when the client is gone.
using StreamSink = std::function<bool(std::string_view)>;

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
  std::string body;
  /// When set: the body is what this writes (chunked), on a thread of its own, until it returns.
  std::function<void(const StreamSink&, std::stop_token)> stream;
};

Response json_response(int status, std::string body);
/// application/problem+json of an error (INTERFACE section 3).
Response problem(const Error& error);

}  // namespace sibyl::server
