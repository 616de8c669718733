#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "text/chunking.h"
#include "text/tokenizer.h"

// Chunks go forward, lie inside the text and miss no byte that is not white space.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl::text;
  if (size < 2) {
    return 0;
  }
  const ChunkOptions options{.tokens = data[0] % 40u, .overlap = data[1] % 40u};
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  static const auto tokenizer =
      *load_tokenizer_json(learn_wordpiece_json({"one two three four"}, 60));
  for (const Tokenizer* counter : {static_cast<const Tokenizer*>(nullptr), tokenizer.get()}) {
    uint32_t begin = 0;
    uint32_t end = 0;
    for (const Chunk& chunk : chunk_text(text, {}, counter, options)) {
      if (chunk.range.begin < begin || chunk.range.end <= end || chunk.range.end > text.size()) {
        std::abort();
      }
      for (uint32_t i = end; i < chunk.range.begin; ++i) {
        if (text[i] > ' ' && text[i] < 0x7F) {
          std::abort();
        }
      }
      begin = chunk.range.begin;
      end = chunk.range.end;
    }
  }
  return 0;
}
