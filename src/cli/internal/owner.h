#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::cli {

/// Whoever owns the data directory, behind the HTTP interface: this process itself, or a server
/// that is reached over its Unix socket. Commands see no difference. Not thread-safe.
class Owner {
 public:
  struct Reply {
    int status = 0;
    std::string body;
  };

  /// Takes the directory, or finds its owner; Unavailable when somebody holds it and does not
  /// answer. With `listen`, a socket is opened too when this process owns it, so that steps of jobs
  /// reach it.
  static Result<std::unique_ptr<Owner>> open(const std::string& data_directory, bool listen);
  virtual ~Owner() = default;

  /// `target` is path and query. A reply of any status is a value.
  virtual Result<Reply> send(const std::string& method, const std::string& target,
                             const std::string& body) = 0;
  /// Gives the body in pieces until it ends, `on_bytes` returns false or `stop` is requested.
  virtual Result<void> stream(const std::string& target,
                              const std::function<bool(std::string_view)>& on_bytes,
                              std::stop_token stop) = 0;
  /// This process owns the directory: what runs in the background ends with it.
  virtual bool in_process() const = 0;
  /// Where steps reach the owner: "unix:/…"; empty without a socket.
  virtual std::string server() const = 0;

  /// `send` with the reply as JSON, or the error that it describes.
  Result<base::Json> call(const std::string& method, const std::string& target,
                          const std::string& body = {});
};

/// "/v1/collections/NAME" and "/v1/models/NAME" with the name encoded.
std::string collection_path(const std::string& name);
std::string model_path(const std::string& reference);

}  // namespace sibyl::cli
