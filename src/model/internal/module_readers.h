#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/internal/module_list.h"
#include "model/model_directory.h"

namespace sibyl::model {

/// Reads one module's folder whole and checks its tensors. Folders may be missing where a module
/// has no parameters.
Result<TransformerModule> read_transformer(const std::string& folder);
Result<PoolingModule> read_pooling(const std::string& folder, size_t width);
Result<DenseModule> read_dense(const std::string& folder);
/// `listed`: modules.json says what comes after the table, so that it alone decides on normalising.
Result<StaticModule> read_static(const std::string& folder, bool listed);

/// tokenizer.json, or vocab.txt with tokenizer_config.json. `lowercase` is do_lower_case of old
/// sentence_bert_config.json files: text is lowered before the tokenizer's own normaliser.
Result<std::shared_ptr<const text::Tokenizer>> read_tokenizer(const std::string& folder,
                                                              bool lowercase);

/// model.safetensors of a folder; a pickle or shards are refused by name.
Result<std::shared_ptr<const SafeTensors>> open_weights(const std::string& folder);

}  // namespace sibyl::model
