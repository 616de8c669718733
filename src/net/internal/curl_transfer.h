#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

#include "base/result.h"
#include "net/http_client.h"

namespace sibyl::net {

/// sockaddr_un's 108 bytes less the closing zero.
inline constexpr size_t kUnixSocketPathMax = 107;

/// One request at a time over a connection that libcurl keeps alive between them. Not thread-safe.
class CurlTransfer {
 public:
  static Result<std::unique_ptr<CurlTransfer>> create();
  virtual ~CurlTransfer() = default;
  /// `on_bytes` may be null: the body is then collected. The request was checked before.
  virtual Result<HttpReply> perform(const HttpEndpoint& endpoint, const HttpRequest& request,
                                    const std::function<bool(std::string_view)>* on_bytes,
                                    std::stop_token stop) = 0;
};

}  // namespace sibyl::net
