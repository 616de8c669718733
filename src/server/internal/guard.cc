#include "server/internal/guard.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/gzip.h"
#include "base/json.h"
#include "net/sha256.h"
#include "server/internal/address.h"

namespace sibyl::server {
namespace {

constexpr uint64_t kKeyLineBytesMax = 4096;
constexpr size_t kKeysMax = 1000;
constexpr size_t kKeyBytesMax = 1024;

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](unsigned char c) {
           return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f');
         });
}

std::string_view header(const Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string_view() : found->second;
}

std::string_view bearer_of(std::string_view authorization) {
  static constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() ||
      !std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, {},
                          [](unsigned char c) { return std::tolower(c); })) {
    return {};
  }
  return authorization.substr(kScheme.size());
}

}  // namespace

Result<ApiKeys> ApiKeys::read(const std::string& path) {
  ApiKeys keys;
  if (path.empty()) {
    return keys;
  }
  Result<void> outcome;
  auto read = base::for_each_line(path, kKeyLineBytesMax, [&](const base::Line& line) {
    if (line.text.find_first_not_of(" \t") == std::string_view::npos && !line.too_long) {
      return true;
    }
    const std::string place = fmt::format("{}:{}", path, line.number);
    const auto json = base::parse_json(line.text, place);
    Key key;
    if (json && json->is_object()) {
      base::JsonFields fields(*json, {}, Code::InvalidConfig);
      key.name = fields.required_text("name");
      key.sha256 = fields.required_text("sha256");
      outcome = fields.finish();
    }
    if (!json || line.too_long || !outcome || !is_sha256(key.sha256) || key.name.empty()) {
      outcome = fail(Code::InvalidConfig,
                     "{} is no key; a line is {{\"name\": \"ci\", \"sha256\": \"64 lower-case "
                     "hexadecimal digits\"}}",
                     place);
      return false;
    }
    if (keys.keys_.size() == kKeysMax) {
      outcome = fail(Code::InvalidConfig, "{} holds more than {} keys", path, kKeysMax);
      return false;
    }
    keys.keys_.push_back(std::move(key));
    return true;
  });
  if (!read) {
    return pass_on(read, "--api-keys");
  }
  if (!outcome) {
    return pass_on(outcome);
  }
  if (keys.keys_.empty()) {
    return fail(Code::InvalidConfig, "the key file '{}' holds no key", path);
  }
  return keys;
}

std::string_view ApiKeys::find(std::string_view key) const {
  if (key.empty() || key.size() > kKeyBytesMax) {
    return {};
  }
  const std::string hash = net::sha256_hex(key);
  std::string_view name;
  for (const Key& known : keys_) {  // every one of them, so that time says nothing
    if (net::equal_constant_time(known.sha256, hash)) {
      name = known.name;
    }
  }
  return name;
}

Result<void> Guard::check(const Request& request, bool open) const {
  if (request.peer != Peer::Tcp) {
    return {};
  }
  if (requires_keys()) {
    return open ? Result<void>() : check_key(request);
  }
  return public_ ? Result<void>() : check_hosts(request);
}

Result<void> Guard::check_key(const Request& request) const {
  const std::string_view key = bearer_of(header(request, "authorization"));
  if (key.empty()) {
    return fail_field(Code::Unauthenticated, "Authorization",
                      "this server needs a key: send 'Authorization: Bearer KEY'");
  }
  if (keys_.find(key).empty()) {
    return fail_field(Code::Unauthenticated, "Authorization", "the key is not known");
  }
  return {};
}

bool Guard::is_allowed_host(std::string_view host) const {
  return is_loopback_host(host) || std::ranges::find(allowed_hosts_, host) != allowed_hosts_.end();
}

Result<void> Guard::check_hosts(const Request& request) const {
  const std::string host = host_of_header(header(request, "host"));
  if (!is_allowed_host(host)) {
    return fail_field(Code::PermissionDenied, "Host",
                      "the host '{}' is not served; ask at localhost, or allow that name in the "
                      "configuration",
                      host);
  }
  const auto origin = request.headers.find("origin");
  if (origin != request.headers.end() &&
      origin->second != "http://" + std::string(header(request, "host")) &&
      origin->second != "https://" + std::string(header(request, "host"))) {
    return fail_field(Code::PermissionDenied, "Origin",
                      "pages of '{}' may not ask this server; only its own page may",
                      origin->second);
  }
  return {};
}

}  // namespace sibyl::server
