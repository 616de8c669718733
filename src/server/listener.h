#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/application.h"

namespace sibyl::server {

struct ListenerOptions {
  std::string http = "127.0.0.1:8080";   ///< host:port, port 0 chooses; empty: no TCP
  std::string grpc = "127.0.0.1:19530";  ///< empty: none; models are served there
  std::string unix_socket;               ///< path; empty: none
  std::string tls_certificate_file;
  std::string tls_key_file;
  size_t threads = 0;  ///< handlers; 0: usable cores + 2
  uint64_t body_bytes_max = 256ULL << 20;
  uint32_t header_bytes_max = 65536;
  int64_t header_timeout_ms = 10'000;
  int64_t body_timeout_ms = 120'000;
  int64_t idle_timeout_ms = 60'000;
  size_t connections_max = 1024;
  size_t grpc_calls_max = 256;             ///< that wait or run at once, over all connections
  uint64_t bodies_bytes_max = 1ULL << 30;  ///< of all requests together
  size_t streams_max = 32;                 ///< event streams open at once
  int64_t drain_timeout_ms = 20'000;
};

/// Sockets over an Application (Boost.Beast), and its models over gRPC. Unavailable when an address
/// is in use.
class Listener {
 public:
  static Result<std::unique_ptr<Listener>> start(Application& application,
                                                 const ListenerOptions& options);
  /// Stops accepting, lets running requests end (drain_timeout_ms), closes.
  virtual ~Listener() = default;
  virtual std::string http_address() const = 0;  ///< with the port chosen
  virtual std::string grpc_address() const = 0;  ///< the same; empty when nothing is served there
  virtual void stop() = 0;
};

}  // namespace sibyl::server
