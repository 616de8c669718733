#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/object_store.h"

namespace sibyl::net::internal {

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;
  int64_t expires_us = 0;  ///< 0: never
};

/// Where the keys of a store come from: options that hold them, or a pod's own identity, asked
/// again before the keys expire. Not thread-safe.
class CredentialSource {
 public:
  explicit CredentialSource(const ObjectStoreOptions& options) : options_(options) {}
  /// Asks for at most `time_ms`; Interrupted by `stop`.
  Result<Credentials> get(const std::stop_token& stop, int64_t time_ms);
  /// The next `get` asks anew, where that is possible.
  void forget() { held_.reset(); }

 private:
  Result<Credentials> ask_token_service(const std::stop_token& stop, int64_t time_ms) const;
  Result<Credentials> ask_agent(const std::stop_token& stop, int64_t time_ms) const;

  const ObjectStoreOptions& options_;
  std::optional<Credentials> held_;
};

/// The reply of AssumeRoleWithWebIdentity (XML).
Result<Credentials> parse_role_credentials(std::string_view xml);
/// The reply of a pod's agent (JSON).
Result<Credentials> parse_agent_credentials(std::string_view json);

}  // namespace sibyl::net::internal
