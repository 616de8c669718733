#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http.h"

namespace sibyl::server {

/// The hashed keys of --api-keys: JSON lines of {"name", "sha256"}. Immutable.
class ApiKeys {
 public:
  /// InvalidConfig names the line; an empty path gives no keys.
  static Result<ApiKeys> read(const std::string& path);
  bool empty() const { return keys_.empty(); }
  /// The name of the key, in a time that does not depend on which one it is; empty for none.
  std::string_view find(std::string_view key) const;

 private:
  struct Key {
    std::string name;
    std::string sha256;
  };
  std::vector<Key> keys_;
};

/// Who may ask over TCP: with keys whoever has one; without, whoever speaks to a loopback name and
/// is no page of another site (DNS rebinding, cross-site requests), or, where everything is public,
/// whoever comes. Other peers always may.
class Guard {
 public:
  Guard(ApiKeys keys, std::vector<std::string> allowed_hosts, bool is_public = false)
      : keys_(std::move(keys)), allowed_hosts_(std::move(allowed_hosts)), public_(is_public) {}
  bool requires_keys() const { return !keys_.empty(); }
  /// Why not, if not. `open` addresses need no key.
  Result<void> check(const Request& request, bool open) const;

 private:
  Result<void> check_key(const Request& request) const;
  Result<void> check_hosts(const Request& request) const;
  bool is_allowed_host(std::string_view host) const;

  ApiKeys keys_;
  std::vector<std::string> allowed_hosts_;
  bool public_;
};

}  // namespace sibyl::server
