#include "text/encoding.h"

#include <algorithm>

#include "text/internal/converters.h"
#include "text/internal/encoding_labels.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  std::string_view name;
};
constexpr Signature kBinaries[] = {{"%PDF-"sv, "a PDF file"},
                                   {"PK\3\4"sv, "a ZIP or office file"},
                                   {"\x7F"
                                    "ELF"sv,
                                    "a program"},
                                   {"\x89PNG"sv, "a PNG image"},
                                   {"GIF8"sv, "a GIF image"},
                                   {"\xFF\xD8\xFF"sv, "a JPEG image"},
                                   {"\x1F\x8B"sv, "a gzip file"},
                                   {"\x28\xB5\x2F\xFD"sv, "a Zstandard file"},
                                   {"BZh9"sv, "a bzip2 file"},
                                   {"\xFD"
                                    "7zXZ"sv,
                                    "an XZ file"},
                                   {"SQLite format 3"sv, "an SQLite database"}};

struct Census {
  size_t zeros = 0;
  size_t zeros_at_even = 0;
  size_t controls = 0;  // NUL not counted
};

/// Control characters that no text file has.
bool is_odd_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' &&
          byte != '\v' && byte != '\b' && byte != 0x1B && byte != 0) ||
         byte == 0x7F;
}

Census take_census(std::string_view bytes) {
  Census census;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte == 0) {
      ++census.zeros;
      census.zeros_at_even += i % 2 == 0 ? 1 : 0;
    } else if (is_odd_control(byte)) {
      ++census.controls;
    }
  }
  return census;
}

/// Says what is wrong when the bytes are no text; `share` is the part of odd bytes that is borne.
Result<void> refuse_binary(std::string_view bytes, const Census& census, size_t per_thousand) {
  for (const Signature& signature : kBinaries) {
    if (bytes.starts_with(signature.bytes)) {
      return fail(Code::InvalidData, "the bytes are {}, not text", signature.name);
    }
  }
  if (census.zeros == bytes.size()) {
    return fail(Code::InvalidData, "all {} bytes are zero; this is not text", bytes.size());
  }
  const size_t odd = census.zeros + census.controls;
  if (odd * 1000 > bytes.size() * per_thousand) {
    return fail(Code::InvalidData, "{} of {} bytes are NUL or control characters; this is not text",
                odd, bytes.size());
  }
  return {};
}

Result<DecodedText> decode_as(std::string_view bytes, std::string_view encoding, bool guessed) {
  auto utf8 = convert_to_utf8(bytes, encoding);
  if (!utf8) {
    return pass_on(utf8);
  }
  if (auto text = refuse_binary(*utf8, take_census(*utf8), 50); !text) {
    return pass_on(text);
  }
  return DecodedText{std::move(*utf8), std::string(encoding), guessed};
}

/// Text by its byte order mark; an empty encoding when there is none.
DecodedText decode_marked(std::string_view bytes) {
  const auto rest = [bytes](size_t mark) { return bytes.substr(mark); };
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) {
    return {repair_utf8(rest(3)), "utf-8", false};
  }
  if (bytes.starts_with("\xFF\xFE\0\0"sv) && bytes.size() % 4 == 0) {
    return {convert_utf32(rest(4), false), "utf-32le", false};
  }
  if (bytes.starts_with("\0\0\xFE\xFF"sv)) {
    return {convert_utf32(rest(4), true), "utf-32be", false};
  }
  if (bytes.starts_with("\xFF\xFE"sv)) {
    return {*convert_to_utf8(rest(2), "utf-16le"), "utf-16le", false};
  }
  if (bytes.starts_with("\xFE\xFF"sv)) {
    return {*convert_to_utf8(rest(2), "utf-16be"), "utf-16be", false};
  }
  return {};
}

/// UTF-16 without a mark shows as zeros in nearly every second byte.
std::string_view unmarked_utf16(std::string_view bytes, const Census& census) {
  const size_t pairs = bytes.size() / 2;
  const size_t odd = census.zeros - census.zeros_at_even;
  if (bytes.size() % 2 != 0 || pairs < 2 || census.controls * 50 > bytes.size()) {
    return {};
  }
  if (odd * 10 >= pairs * 7 && census.zeros_at_even * 50 <= pairs) {
    return "utf-16le";
  }
  if (census.zeros_at_even * 10 >= pairs * 7 && odd * 50 <= pairs) {
    return "utf-16be";
  }
  return {};
}

/// Whether ill-formed bytes look like damage of UTF-8 and not like another encoding: bytes above
/// 0x7F hardly ever form sequences by chance.
bool is_damaged_utf8(std::string_view bytes) {
  size_t good = 0;
  size_t bad = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(bytes, at);
    if (c >= 0x80) {
      const bool replaced = c == 0xFFFD && bytes.substr(begin, at - begin) != "\xEF\xBF\xBD";
      (replaced ? bad : good) += 1;
    }
  }
  return good >= 4 * bad;
}

}  // namespace

Result<DecodedText> decode_text(std::string_view bytes, std::string_view declared) {
  if (bytes.empty()) {
    return DecodedText{{}, "utf-8", false};
  }
  if (DecodedText marked = decode_marked(bytes); !marked.encoding.empty()) {
    if (auto text = refuse_binary(marked.utf8, take_census(marked.utf8), 50); !text) {
      return pass_on(text);
    }
    return marked;
  }
  const Census census = take_census(bytes);
  const std::string_view named = encoding_of_label(declared);
  // A page that says UTF-16 in ASCII bytes is wrong about itself.
  if (named.starts_with("utf-16") && census.zeros > 0) {
    return decode_as(bytes, named, false);
  }
  if (const auto utf16 = unmarked_utf16(bytes, census); !utf16.empty()) {
    return decode_as(bytes, utf16, true);
  }
  const bool utf8 = is_utf8(bytes);
  if (auto text = refuse_binary(bytes, census, utf8 || !named.empty() ? 50 : 10); !text) {
    return pass_on(text);
  }
  if (named == "iso-2022-jp") {  // seven-bit, so it would pass for UTF-8
    return decode_as(bytes, named, false);
  }
  if (utf8) {
    return DecodedText{std::string(bytes), "utf-8", false};
  }
  if (!named.empty() && !named.starts_with("utf-")) {
    return decode_as(bytes, named, false);
  }
  return decode_as(bytes, is_damaged_utf8(bytes) ? "utf-8" : "windows-1252", true);
}

}  // namespace sibyl::text
