#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

// Texts are anything: tokens and their places must hold together.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl::text;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const auto learned = *load_tokenizer_json(
      learn_wordpiece_json({"the quick brown fox", "naïve café 北京 don't [SEP]"}, 100));
  static const auto plain = *load_wordpiece_vocabulary("[UNK]\n[CLS]\n[SEP]\na\n##b\n", {});
  for (const auto& tokenizer : {learned, plain}) {
    Tokens placed;
    Tokens bare;
    tokenizer->tokenize(text, {.offsets = true}, placed);
    tokenizer->tokenize(text, {}, bare);
    if (placed.ids != bare.ids || placed.begins.size() != placed.ids.size()) {
      std::abort();
    }
    for (size_t i = 0; i < placed.ids.size(); ++i) {
      if (placed.begins[i] > placed.ends[i] || placed.ends[i] > size) {
        std::abort();
      }
    }
  }
  static_cast<void>(load_wordpiece_vocabulary(text, {}));
  static_cast<void>(learn_wordpiece_json({text}, 200));
  return 0;
}
