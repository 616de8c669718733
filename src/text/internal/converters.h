#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::text {

/// Bytes of a known encoding (see encoding_labels.h) to UTF-8; what means nothing becomes U+FFFD.
/// Unavailable when the C library has no converter for it.
Result<std::string> convert_to_utf8(std::string_view bytes, std::string_view encoding);

/// UTF-32 of either byte order; kept apart because no label means it.
std::string convert_utf32(std::string_view bytes, bool big_endian);

}  // namespace sibyl::text
