#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/internal/html_reader.h"
#include "base/check.h"
#include "text/encoding.h"

/// Bytes of an HTML file, through decoding as the reader does it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = text::decode_text(bytes, answer::internal::declared_charset(bytes));
  if (!decoded) {
    return 0;
  }
  const auto document = answer::internal::read_html(decoded->utf8, 64);
  if (document) {
    for (const text::Section& section : document->sections) {
      base::check(
          section.range.begin <= section.range.end && section.range.end <= document->text.size(),
          "sections lie within the text");
    }
  }
  return 0;
}
