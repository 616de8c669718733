#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/model_directory.h"

namespace sibyl::model {

/// Sizes of a transformer from the text of its config.json; `tensors` and `tokens_max` stay empty.
/// Families, activations and position schemes without a kernel here are refused by name.
Result<TransformerModule> parse_transformer_config(std::string_view json, const std::string& name);

/// config.json for a transformer of this shape, as Hugging Face's transformers reads it.
base::Json transformer_config_json(const TransformerModule& shape);

}  // namespace sibyl::model
