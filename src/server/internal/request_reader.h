#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http.h"

namespace sibyl::server {

/// Why the bytes of a request cannot be used, with the status of the reply.
struct ReadRefusal {
  int status = 400;
  Error error;
};

/// Turns the bytes of one HTTP/1.1 request into a Request, without sockets. Refuses whatever two
/// servers could read differently: no or two Host headers, a length beside chunks, codings other
/// than chunked. Externally synchronised.
class RequestReader {
 public:
  enum class State { Head, Body, Done, Refused };
  struct Limits {
    uint32_t header_bytes_max = 65536;
    uint64_t body_bytes_max = 0;
  };

  static std::unique_ptr<RequestReader> create(const Limits& limits);
  virtual ~RequestReader() = default;

  /// Takes bytes from the front of `bytes` and says how many; those left over are to be given again
  /// with more behind them. Stops after the head once, so that it can be looked at.
  virtual size_t feed(std::string_view bytes) = 0;
  virtual State state() const = 0;
  /// Set when the state is Refused.
  virtual const ReadRefusal& refusal() const = 0;

  /// From Body or Done on: everything but the body, which `take` puts in when Done.
  virtual const Request& head() const = 0;
  virtual std::optional<uint64_t> content_length() const = 0;
  virtual bool expects_continue() const = 0;
  virtual bool keep_alive() const = 0;
  virtual unsigned version() const = 0;  ///< 10 or 11
  virtual uint64_t body_bytes() const = 0;
  virtual Request take() = 0;
};

}  // namespace sibyl::server
