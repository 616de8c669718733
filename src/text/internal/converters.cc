#include "text/internal/converters.h"

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include <iconv.h>

#include "text/internal/single_byte.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

std::string convert_single_byte(std::string_view bytes, const SingleByteTable& table) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    append_code_point(out, value < 0x80 ? value : table.upper[value - 0x80]);
  }
  return out;
}

std::string convert_utf16(std::string_view bytes, bool big_endian) {
  const auto unit = [bytes, big_endian](size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string out;
  out.reserve(bytes.size());
  size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) {
    const char32_t high = unit(at);
    const bool pair = high >= 0xD800 && high < 0xDC00 && at + 4 <= bytes.size();
    const char32_t low = pair ? unit(at + 2) : 0;
    if (low >= 0xDC00 && low < 0xE000) {
      append_code_point(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
      at += 2;
    } else {
      append_code_point(out, high);  // a lone surrogate becomes U+FFFD there
    }
  }
  if (at < bytes.size()) {
    append_code_point(out, kReplacement);
  }
  return out;
}

struct IconvName {
  std::string_view encoding;
  const char* name;
};
// The C library's nearest to what the web means by the label.
constexpr IconvName kIconvNames[] = {{"gbk", "GB18030"},     {"gb18030", "GB18030"},
                                     {"big5", "BIG5-HKSCS"}, {"shift_jis", "CP932"},
                                     {"euc-jp", "EUC-JP"},   {"iso-2022-jp", "ISO-2022-JP"},
                                     {"euc-kr", "UHC"}};

class Iconv {
 public:
  explicit Iconv(const char* from) : handle_(iconv_open("UTF-8", from)) {}
  ~Iconv() {
    if (good()) {
      iconv_close(handle_);
    }
  }
  Iconv(const Iconv&) = delete;
  Iconv& operator=(const Iconv&) = delete;
  // iconv_open's failure value is a pointer made of -1.
  bool good() const { return reinterpret_cast<intptr_t>(handle_) != -1; }

  std::string convert(std::string_view bytes) {
    std::string out;
    std::array<char, 4096> buffer;
    char* in = const_cast<char*>(bytes.data());  // iconv's signature; it does not write there
    size_t left = bytes.size();
    while (left > 0) {
      char* to = buffer.data();
      size_t room = buffer.size();
      const size_t done = iconv(handle_, &in, &left, &to, &room);
      out.append(buffer.data(), buffer.size() - room);
      if (done == static_cast<size_t>(-1) && errno != E2BIG) {
        append_code_point(out, kReplacement);  // EILSEQ or a sequence cut at the end
        ++in;
        --left;
      }
    }
    return out;
  }

 private:
  iconv_t handle_;
};

}  // namespace

Result<std::string> convert_to_utf8(std::string_view bytes, std::string_view encoding) {
  if (encoding == "utf-8") {
    return repair_utf8(bytes);
  }
  if (encoding == "utf-16le" || encoding == "utf-16be") {
    return convert_utf16(bytes, encoding == "utf-16be");
  }
  if (const SingleByteTable* table = find_single_byte(encoding)) {
    return convert_single_byte(bytes, *table);
  }
  for (const IconvName& known : kIconvNames) {
    if (known.encoding == encoding) {
      Iconv converter(known.name);
      if (converter.good()) {
        return converter.convert(bytes);
      }
      return fail(Code::Unavailable,
                  "the C library has no converter for '{}'; install its gconv modules or save the "
                  "text as UTF-8",
                  encoding);
    }
  }
  return fail(Code::InvalidData, "encoding '{}' is not known; save the text as UTF-8", encoding);
}

std::string convert_utf32(std::string_view bytes, bool big_endian) {
  std::string out;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    char32_t value = 0;
    for (size_t i = 0; i < 4; ++i) {
      const size_t place = big_endian ? i : 3 - i;
      value = value << 8 | static_cast<unsigned char>(bytes[at + place]);
    }
    append_code_point(out, value);
  }
  if (at < bytes.size()) {
    append_code_point(out, kReplacement);
  }
  return out;
}

}  // namespace sibyl::text
