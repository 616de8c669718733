#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::server {

struct HostPort {
  std::string host;  ///< without brackets; empty: every address of the machine
  uint16_t port = 0;
};

/// "127.0.0.1:8080", "[::1]:8080", "localhost:0", ":8080". InvalidConfig names the right forms.
Result<HostPort> parse_host_port(std::string_view text);

/// The host of a Host or Origin value, without port and brackets, in lower case: "[::1]:80" gives
/// "::1". Empty when it is no host.
std::string host_of_header(std::string_view value);

/// "localhost", names under it, 127.0.0.0/8 and ::1: what cannot come from another machine.
bool is_loopback_host(std::string_view host);

}  // namespace sibyl::server
