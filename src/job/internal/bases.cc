#include "job/internal/bases.h"

#include <algorithm>

#include "job/job_file.h"

namespace sibyl::job::internal {

Result<void> check_base_name(const std::string& base) {
  if (base.empty()) {
    return fail_field(Code::InvalidConfig, "base",
                      "base is ''; must be a model's name or folder, or static_custom");
  }
  if (is_base_folder(base)) {
    return {};
  }
  // bpe_<language>_<dimension>_<vocabulary>, word_en_300d_2M, word_custom, bpe_custom.
  const bool bpe = base.starts_with("bpe_") && std::count(base.begin(), base.end(), '_') == 3;
  if (base == "word_custom" || base == "bpe_custom" || base == "word_en_300d_2M" || bpe) {
    return fail_field(Code::Unimplemented, "base",
                      "base is '{}'; recurrent encoders are not built yet, use minilm, another "
                      "model or static_custom",
                      base);
  }
  return {};
}

}  // namespace sibyl::job::internal
