#include "server/internal/served_models.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/log.h"
#include "encoder/cpu_encoder.h"
#include "model/model_directory.h"
#include "server/internal/metered_encoder.h"
#include "server/internal/model_source.h"

namespace sibyl::server {
namespace {

constexpr size_t kModelsMax = 16;
constexpr size_t kNameBytesMax = 64;
constexpr uint64_t kConfigBytesMax = 4 << 20;

bool is_model_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

Result<void> check_names(const std::vector<ModelToServe>& models) {
  if (models.empty() || models.size() > kModelsMax) {
    return fail_field(Code::InvalidArgument, "model",
                      "{} models are named; a model server has 1 to {}: --model NAME=DIR_OR_URI",
                      models.size(), kModelsMax);
  }
  for (size_t i = 0; i < models.size(); ++i) {
    if (!is_model_name(models[i].name)) {
      return fail_field(Code::InvalidArgument, "model",
                        "the model name '{}' is not 1 to {} letters, digits, '.', '_' and '-'",
                        models[i].name, kNameBytesMax);
    }
    for (size_t j = 0; j < i; ++j) {
      if (models[j].name == models[i].name) {
        return fail_field(Code::InvalidArgument, "model", "the model name '{}' is given twice",
                          models[i].name);
      }
    }
  }
  return {};
}

/// The first call of a model touches every weight and lets libraries prepare: one question and one
/// batch are encoded before anybody waits.
Result<void> warm_up(encoder::Encoder& encoder, std::stop_token stop) {
  static constexpr std::array<std::string_view, 2> kQuestion = {"", "How do I begin?"};
  static constexpr size_t kBatch = 16;
  const std::string passage =
      "A passage of a few sentences. It is as long as the passages that a collection holds, and "
      "nobody ever reads the vectors that it gets.";
  const std::vector<std::string_view> passages(kBatch, passage);
  encoder::EncodeOptions options;
  options.stop = std::move(stop);
  options.urgency = encoder::Urgency::Question;
  if (auto encoded = encoder.encode(kQuestion, options); !encoded) {
    return pass_on(encoded);
  }
  options.urgency = encoder::Urgency::Document;
  if (auto encoded = encoder.encode(passages, options); !encoded) {
    return pass_on(encoded);
  }
  return {};
}

Result<ServedModels::Model> open_model(const ModelToServe& wanted,
                                       const ModelServerOptions& options, std::stop_token stop) {
  const int64_t begin_us = base::system_clock().steady_us();
  // Fetched files go when the model is loaded: what is mapped stays until it is let go.
  const auto local = fetch_model(wanted.uri, options.source, stop);
  if (!local) {
    return tl::unexpected<Error>(local.error());
  }
  if (auto checked = check_makes_vectors(local->path); !checked) {
    return pass_on(checked);
  }
  auto directory = model::read_model_directory(local->path);
  if (!directory) {
    return pass_on(directory);
  }
  ServedModels::Model model;
  model.name = wanted.name;
  const bool is_static = std::holds_alternative<model::StaticModule>((*directory)->modules.front());
  model.kind = is_static ? "static" : "transformer";
  model.pipelines = (*directory)->provenance.pipelines;
  encoder::CpuEncoderOptions runtime;
  runtime.threads = options.threads;
  auto encoder = encoder::open_cpu_encoder(std::move(*directory), wanted.name, runtime);
  if (!encoder) {
    return pass_on(encoder);
  }
  model.encoder = meter_encoder(std::move(*encoder));
  if (auto warm = warm_up(*model.encoder, stop); !warm) {
    return pass_on(warm);
  }
  const encoder::EncoderInfo& info = model.encoder->info();
  base::log_info("server", "model {} (version {}, {} numbers a vector) is loaded and warm: {} ms",
                 wanted.name, info.version, info.dimension,
                 (base::system_clock().steady_us() - begin_us) / 1000);
  return model;
}

}  // namespace

Result<std::unique_ptr<ServedModels>> ServedModels::open(const ModelServerOptions& options,
                                                         std::stop_token stop) {
  if (auto named = check_names(options.models); !named) {
    return pass_on(named);
  }
  std::vector<Model> models;
  for (const ModelToServe& wanted : options.models) {
    auto model = open_model(wanted, options, stop);
    if (!model) {
      return pass_on(model, fmt::format("--model {}={}", wanted.name, wanted.uri));
    }
    models.push_back(std::move(*model));
  }
  if (models.size() == 1) {
    models.front().alias = options.alias;
  }
  return std::unique_ptr<ServedModels>(new ServedModels(std::move(models)));
}

const ServedModels::Model* ServedModels::find_model(const std::string& reference) const {
  if (reference.empty()) {
    return &models_.front();
  }
  const size_t at = std::min(reference.find('@'), reference.size());
  const std::string_view name = std::string_view(reference).substr(0, at);
  const auto found = std::ranges::find_if(
      models_, [name](const Model& model) { return model.name == name || model.alias == name; });
  const bool right = found != models_.end() &&
                     (at == reference.size() ||
                      std::string_view(reference).substr(at + 1) == found->encoder->info().version);
  return right ? &*found : nullptr;
}

Result<std::shared_ptr<encoder::Encoder>> ServedModels::find(const std::string& reference) {
  if (const Model* const model = find_model(reference)) {
    return model->encoder;
  }
  std::vector<std::string> there;
  for (const Model& model : models_) {
    there.push_back(fmt::format("{}@{}", model.name, model.encoder->info().version));
  }
  return fail_field(Code::NotFound, "model", "model '{}' is not served here; there are: {}",
                    reference.substr(0, 2 * kNameBytesMax), fmt::join(there, ", "));
}

std::map<std::string, std::string> ServedModels::pipelines(const std::string& reference) {
  const Model* const model = find_model(reference);
  return model == nullptr ? std::map<std::string, std::string>() : model->pipelines;
}

Result<void> check_makes_vectors(const std::string& directory) {
  base::FileSystem& files = base::real_file_system();
  const std::string path = base::join_path(directory, "config.json");
  // With a list of modules the head of the transformer is not used, whatever its name.
  if (files.exists(base::join_path(directory, "modules.json")) || !files.exists(path)) {
    return {};
  }
  const auto text = base::read_file(path, kConfigBytesMax);
  const auto config = text ? base::parse_json(*text, path) : Result<base::Json>(base::Json());
  if (!config) {
    return {};  // the model's own reader says what is wrong with it
  }
  for (const base::Json& architecture : base::value_at(*config, "architectures")) {
    const std::string name = architecture.is_string() ? architecture.get<std::string>() : "";
    const bool reads = name.ends_with("ForQuestionAnswering");
    if (reads || name.ends_with("ForSequenceClassification")) {
      return fail(Code::InvalidData,
                  "{} is a {} ('{}'); models that make vectors are served, {} are not built yet",
                  directory, reads ? "reader" : "re-ranker", name,
                  reads ? "readers" : "re-rankers");
    }
  }
  return {};
}

}  // namespace sibyl::server
