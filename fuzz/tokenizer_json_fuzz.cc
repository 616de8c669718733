#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/tokenizer.h"

// A tokenizer.json is downloaded from anywhere: reading and then using one must never crash.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = sibyl::text::load_tokenizer_json(json);
  if (tokenizer) {
    sibyl::text::Tokens tokens;
    (*tokenizer)->tokenize(json, {.tokens_max = 1000, .offsets = true}, tokens);
  }
  return 0;
}
