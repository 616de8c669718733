#include "server/internal/address.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sibyl::server {
namespace {

/// Four numbers from 0 to 255, the first 127.
bool is_loopback_v4(std::string_view host) {
  size_t parts = 0;
  unsigned first = 0;
  while (!host.empty() && parts < 4) {
    unsigned value = 256;
    const auto [end, error] = std::from_chars(host.data(), host.data() + host.size(), value);
    if (error != std::errc() || value > 255) {
      return false;
    }
    first = parts == 0 ? value : first;
    host.remove_prefix(static_cast<size_t>(end - host.data()));
    ++parts;
    if (parts < 4) {
      if (!host.starts_with('.')) {
        return false;
      }
      host.remove_prefix(1);
    }
  }
  return parts == 4 && host.empty() && first == 127;
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  const auto wrong = [text] {
    return fail(Code::InvalidConfig,
                "'{}' is no address to listen at; give HOST:PORT, as 127.0.0.1:8080, [::1]:8080 or "
                ":8080 for every address of the machine",
                text);
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return wrong();
  }
  HostPort address;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return wrong();
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();  // an IPv6 address without its brackets
  }
  address.host = std::string(host);
  return address;
}

std::string host_of_header(std::string_view value) {
  if (const size_t scheme = value.find("://"); scheme != std::string_view::npos) {
    value.remove_prefix(scheme + 3);
  }
  std::string_view host;
  if (value.starts_with('[')) {
    const size_t close = value.find(']');
    host = close == std::string_view::npos ? std::string_view() : value.substr(1, close - 1);
  } else {
    host = value.substr(0, value.find(':'));
  }
  std::string lower(host);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         is_loopback_v4(host);
}

}  // namespace sibyl::server
