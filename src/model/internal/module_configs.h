#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model_directory.h"

namespace sibyl::model {

/// What a Pooling module's config.json says; both spellings, `pooling_mode` wins over the booleans.
struct PoolingConfig {
  PoolingModule module;
  size_t width = 0;  ///< of the token vectors that come in; 0 when the file does not say
};
Result<PoolingConfig> parse_pooling_config(std::string_view json, const std::string& name);
/// The old spelling, which every sentence-transformers reads.
std::string pooling_config_json(const std::vector<PoolingMode>& modes, size_t width);

/// Sizes and activation of a Dense module's config.json; `has_bias` false when it has none.
struct DenseConfig {
  DenseModule module;
  bool has_bias = true;
};
Result<DenseConfig> parse_dense_config(std::string_view json, const std::string& name);

/// Longest input in tokens of a sentence_*_config.json; 0 when it does not say.
struct SentenceConfig {
  size_t tokens_max = 0;
  bool lowercase = false;
};
Result<SentenceConfig> parse_sentence_config(std::string_view json, const std::string& name);

/// Prompts of config_sentence_transformers.json: "query", and "document" from the first there is of
/// document, passage and corpus. `default_prompt_name` is for callers that say neither.
Result<std::map<std::string, std::string>> parse_prompts(std::string_view json,
                                                         const std::string& name);

}  // namespace sibyl::model
