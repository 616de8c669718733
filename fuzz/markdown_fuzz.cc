#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/internal/markdown_reader.h"
#include "base/check.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string text =
      text::repair_utf8(std::string_view(reinterpret_cast<const char*>(data), size));
  const auto document = answer::internal::read_markdown(text);
  if (document) {
    for (const text::Section& section : document->sections) {
      base::check(
          section.range.begin <= section.range.end && section.range.end <= document->text.size(),
          "sections lie within the text");
    }
  }
  return 0;
}
