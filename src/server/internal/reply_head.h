#pragma once

#include <string>

#include "server/http.h"

namespace sibyl::server {

/// How a reply is framed.
struct ReplyForm {
  unsigned version = 11;
  bool head_only = false;  ///< the request was HEAD
  bool keep_alive = false;
  bool chunked = false;
};

/// Status line and headers with the empty line behind them; the length is that of the reply's body
/// unless it is chunked or a stream.
std::string reply_head(const Response& response, const ReplyForm& form);
/// 1xx, 204 and 304 never have one.
bool has_no_body(int status);

}  // namespace sibyl::server
