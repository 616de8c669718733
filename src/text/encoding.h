#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::text {

struct DecodedText {
  std::string utf8;
  std::string encoding;  ///< "utf-8", "utf-16le", "windows-1252", "iso-8859-2", ...
  /// Neither marked, valid UTF-8 nor declared: UTF-8 with damaged places, UTF-16 or Windows-1252
  /// was assumed, as `encoding` says.
  bool guessed = false;
};

/// Bytes of a file to UTF-8: byte order mark, else valid UTF-8, else `declared` (an HTTP or HTML
/// charset label, may be empty), else UTF-16 or damaged UTF-8 where the bytes say so, else
/// Windows-1252. Labels mean what the WHATWG standard says. InvalidData for bytes that no text has
/// (a share of NULs or control characters that says binary, or all zeros).
Result<DecodedText> decode_text(std::string_view bytes, std::string_view declared = {});

}  // namespace sibyl::text
