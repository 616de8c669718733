#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encoder/internal/transformer.h"

namespace sibyl::encoder {

/// Copies a model directory's weights into packed form. The first error is kept.
class Transformer::Loader {
 public:
  Loader(const model::TransformerModule& module, bool force_own_kernel);
  Result<std::unique_ptr<const Transformer>> load();

 private:
  std::vector<float> take(const std::string& name);
  std::unique_ptr<const PackedWeights> pack(const std::string& name, ProductShape shape);
  void note(std::string message);
  void load_words();
  void load_embeddings();
  void load_layer(size_t index);

  const model::TransformerModule& module_;
  std::unique_ptr<Transformer> out_;
  std::optional<Error> error_;
};

}  // namespace sibyl::encoder
