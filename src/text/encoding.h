#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::text {

struct DecodedText {
  std::string utf8;
  std::string encoding;  ///< "utf-8", "utf-16le", "windows-1252", "iso-8859-2", ...
  bool guessed = false;  ///< neither marked, valid UTF-8 nor declared: Windows-1252 was assumed
};

/// Bytes of a file to UTF-8: byte order mark, else valid UTF-8, else `declared` (an HTTP or HTML
/// charset label, may be empty), else Windows-1252. InvalidData for bytes that no text has (a share
/// of NULs or control characters that says binary, or all zeros).
Result<DecodedText> decode_text(std::string_view bytes, std::string_view declared = {});

}  // namespace sibyl::text
