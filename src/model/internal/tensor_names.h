#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/model_directory.h"

namespace sibyl::model {

/// Whether every weight of the transformer is in `tensors` with the right shape and a float type;
/// the error names the first that is not. `name` is the file's name.
Result<void> check_transformer_tensors(const TransformerModule& module, const std::string& name);

/// Whether a tensor has this shape and a float type.
Result<void> check_tensor(const TensorView* tensor, std::string_view tensor_name,
                          const std::vector<uint64_t>& shape, const std::string& name);

}  // namespace sibyl::model
