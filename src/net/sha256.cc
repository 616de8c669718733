#include "net/sha256.h"

#include <array>
#include <memory>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/bytes.h"
#include "base/check.h"

namespace sibyl::net {

namespace {

/// The largest piece that goes into one update call.
constexpr size_t kPieceBytes = size_t{1} << 24;

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  base::check(context != nullptr, "OpenSSL gives a digest context");
  base::check(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1, "SHA-256 starts");
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const std::string_view piece = bytes.substr(at, kPieceBytes);
    base::check(EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1,
                "SHA-256 takes bytes");
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int digest_bytes = 0;
  base::check(EVP_DigestFinal_ex(context.get(), digest.data(), &digest_bytes) == 1, "SHA-256 ends");
  return base::to_hex({reinterpret_cast<const char*>(digest.data()), digest_bytes});
}

Result<std::string> sha256_file(const std::string& path, base::FileSystem& files) {
  auto view = files.map(path);
  if (!view) {
    return pass_on(view);
  }
  return sha256_hex((*view)->bytes());
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace sibyl::net
