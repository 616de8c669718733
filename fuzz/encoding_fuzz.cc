#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "text/analyzer.h"
#include "text/encoding.h"
#include "text/utf8.h"

// Whatever the bytes, what comes out is well-formed UTF-8, and terms lie inside the text.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl::text;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view label = bytes.substr(0, bytes.find('\n'));
  for (const std::string_view declared :
       {std::string_view(), label, std::string_view("gbk"), std::string_view("iso-2022-jp")}) {
    const auto text = decode_text(bytes, declared);
    if (text && !is_utf8(text->utf8)) {
      std::abort();
    }
  }
  const std::string repaired = repair_utf8(bytes);
  if (!is_utf8(repaired) || to_utf32(bytes) != to_utf32(repaired) ||
      cut_utf8(bytes, size / 2).size() > size / 2) {
    std::abort();
  }
  static const auto english = *Analyzer::create("en");
  static const auto hindi = *Analyzer::create("hi");
  std::vector<Term> terms;
  for (const auto& analyzer : {english, hindi}) {
    analyzer->analyze(bytes, terms);
    for (const Term& term : terms) {
      if (term.text.empty() || term.begin >= term.end || term.end > size) {
        std::abort();
      }
    }
  }
  static_cast<void>(guess_language(bytes));
  return 0;
}
