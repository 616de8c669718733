#pragma once

#include <cstdint>

#include "base/result.h"
#include "net/http_client.h"

namespace sibyl::encoder {

/// What one try of a call came to.
struct Verdict {
  enum class Kind {
    Fine,      ///< a reply to read
    Again,     ///< worth another try
    Over,      ///< not worth one
    TooLarge,  ///< fewer texts may pass
  };
  Kind kind = Kind::Fine;
  bool counts = false;         ///< a failure of the server, for the circuit breaker
  int64_t retry_after_us = 0;  ///< what the server asked for
  Error error;
};

/// Judges a reply by its status, or why there is none.
Verdict judge(const Result<net::HttpReply>& reply);

}  // namespace sibyl::encoder
