#include <cstdint>
#include <string_view>

#include "model/internal/model_files.h"
#include "model/internal/module_configs.h"
#include "model/internal/module_list.h"
#include "model/internal/transformer_config.h"

/// The JSON files of a model directory; the first byte chooses which.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 7) {
    case 0:
      if (const auto modules = sibyl::model::parse_module_list(text, "fuzz"); modules) {
        for (const sibyl::model::ModuleEntry& entry : *modules) {
          if (!entry.folder.empty() && !sibyl::model::is_inner_path(entry.folder)) {
            __builtin_trap();
          }
        }
      }
      break;
    case 1:
      if (const auto config = sibyl::model::parse_transformer_config(text, "fuzz"); config) {
        static_cast<void>(sibyl::model::transformer_file_names(*config));
      }
      break;
    case 2:
      static_cast<void>(sibyl::model::parse_pooling_config(text, "fuzz"));
      break;
    case 3:
      static_cast<void>(sibyl::model::parse_dense_config(text, "fuzz"));
      break;
    case 4:
      static_cast<void>(sibyl::model::parse_sentence_config(text, "fuzz"));
      break;
    case 5:
      static_cast<void>(sibyl::model::parse_prompts(text, "fuzz"));
      break;
    default:
      static_cast<void>(sibyl::model::parse_provenance(text, "fuzz"));
  }
  return 0;
}
