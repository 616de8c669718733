#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "net/http_client.h"
#include "net/object_store.h"

namespace sibyl::net::internal {

struct S3Request {
  std::string method = "GET";
  std::string key;                             ///< empty: the bucket itself
  std::map<std::string, std::string> query;    ///< not encoded
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
  uint64_t reply_bytes_max = uint64_t{8} << 20;
  int64_t last_ms = 0;  ///< above 0: sent also behind a stop, and given up after this time
};

/// Signed requests to one bucket, tried again while the store or the network fails. Not
/// thread-safe.
class S3Connection {
 public:
  static Result<std::unique_ptr<S3Connection>> open(ObjectStoreOptions options, std::string bucket,
                                                    std::stop_token stop);
  virtual ~S3Connection() = default;
  /// The reply when its status is 2xx, 304, 404, 412 or 416; others are errors. A request may have
  /// had its effect more than once: libcurl repeats one on a connection that has died, too.
  virtual Result<HttpReply> send(S3Request request) = 0;
  virtual const ObjectStoreOptions& options() const = 0;
  virtual const std::string& bucket() const = 0;
};

}  // namespace sibyl::net::internal
