#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace sibyl::net {

/// SHA-256 (FIPS 180-4, OpenSSL) as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
Result<std::string> sha256_file(const std::string& path,
                                base::FileSystem& files = base::real_file_system());
/// Whether two secrets are equal, in time that depends on their length alone.
bool equal_constant_time(std::string_view a, std::string_view b);

}  // namespace sibyl::net
