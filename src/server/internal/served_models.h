#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "server/application.h"

namespace sibyl::server {

/// The models of a model server, loaded and warm before the first request comes. A reference is a
/// name, "name@version", or "" for the first one. Immutable.
class ServedModels final : public answer::EncoderSource {
 public:
  /// Fetches what is elsewhere, checks it against sibyl.json, loads it and encodes a few texts.
  /// InvalidArgument for wrong or equal names, InvalidData for a model that makes no vectors.
  static Result<std::unique_ptr<ServedModels>> open(const ModelServerOptions& options,
                                                    std::stop_token stop);

  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override;
  std::map<std::string, std::string> pipelines(const std::string& reference) override;

  struct Model {
    std::string name;
    std::string alias;  ///< another name of it; may be empty
    std::string kind;   ///< "transformer" or "static"
    std::map<std::string, std::string> pipelines;
    std::shared_ptr<encoder::Encoder> encoder;
  };
  const std::vector<Model>& models() const { return models_; }

 private:
  explicit ServedModels(std::vector<Model> models) : models_(std::move(models)) {}
  /// nullptr when there is none.
  const Model* find_model(const std::string& reference) const;

  const std::vector<Model> models_;
};

/// Refuses a directory whose config.json says that the model answers with spans of text or with
/// one score a pair: such a model makes no vectors.
Result<void> check_makes_vectors(const std::string& directory);

}  // namespace sibyl::server
