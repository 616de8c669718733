#include "net/internal/sigv4.h"

#include <ctime>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "net/http_client.h"
#include "net/sha256.h"

namespace sibyl::net::internal {
namespace {

std::string hmac(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &length);
  return std::string(reinterpret_cast<const char*>(digest), length);
}

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

std::string signing_time(int64_t now_us) {
  const std::time_t seconds = now_us / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:%Y%m%dT%H%M%SZ}", parts);
}

std::string encode_query(const std::map<std::string, std::string>& query) {
  // Sorted by the encoded name, which for our names is the order of the map.
  std::string out;
  for (const auto& [name, value] : query) {
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", encode_uri_part(name),
                       encode_uri_part(value));
  }
  return out;
}

std::string sign(const SigningInput& input) {
  std::string canonical_headers;
  std::string names;
  for (const auto& [name, value] : input.headers) {
    canonical_headers += fmt::format("{}:{}\n", name, value);
    names += fmt::format("{}{}", names.empty() ? "" : ";", name);
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", input.method, input.path, encode_query(input.query),
                  canonical_headers, names, input.payload_sha256);
  const std::string time = signing_time(input.now_us);
  const std::string day = time.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", day, input.region, input.service);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256_hex(canonical));
  std::string key = hmac("AWS4" + input.secret_key, day);
  for (const std::string_view part :
       {std::string_view(input.region), std::string_view(input.service),
        std::string_view("aws4_request")}) {
    key = hmac(key, part);
  }
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={},Signature={}",
                     input.access_key, scope, names, hexadecimal(hmac(key, to_sign)));
}

}  // namespace sibyl::net::internal
