#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::job {

/// The owner of a data directory over its HTTP interface: by Unix socket or address. Not
/// thread-safe.
class OwnerClient {
 public:
  /// `server` is "unix:/path" or an http(s) URL; Unavailable, naming --server, when it is empty.
  /// `ca_file` holds the certificates to trust for https; empty: the system's.
  static Result<std::unique_ptr<OwnerClient>> open(const std::string& server,
                                                   const std::string& api_key,
                                                   const std::string& ca_file = {});
  virtual ~OwnerClient() = default;
  /// The reply as JSON (null for an empty body); a status of 400 and above is the Error it
  /// describes. `timeout_ms` 0: none.
  virtual Result<base::Json> call(const std::string& method, const std::string& path,
                                  const std::string& body, int64_t timeout_ms = 120'000) = 0;
  /// A file's bytes to POST /v1/uploads; the id that other calls name it by.
  virtual Result<std::string> upload(const std::string& name, std::string bytes) = 0;
  /// The body of a GET into a new file; TooLarge above `bytes_max`, DeadlineExceeded when nothing
  /// comes for a minute.
  virtual Result<void> download(const std::string& path, const std::string& target,
                                uint64_t bytes_max, std::stop_token stop) = 0;
  /// The owner runs on this machine (Unix socket): a path means the same to both.
  virtual bool shares_paths() const = 0;
};

/// What a reply of the HTTP interface says: its JSON, or the Error that its problem document holds.
Result<base::Json> read_reply(int status, const std::string& body);

}  // namespace sibyl::job
