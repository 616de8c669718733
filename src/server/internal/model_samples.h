#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::server {

/// What a model made of encoder::kSampleText, and where it ran.
struct ModelSample {
  std::vector<float> vector;
  bool is_served = false;  ///< by a model server; else by the copy here
};
/// By reference, as "helpdesk@3".
using SampleMap = std::map<std::string, ModelSample>;

/// Whether two samples are of one model. Compared in float32 of two machines, which are far nearer
/// than two models are.
bool is_same_sample(const std::vector<float>& a, const std::vector<float>& b);

/// The file of docs/formats/model-samples.md.
std::string encode_samples(const SampleMap& samples);
/// DataLoss names `path` when the bytes are not ours.
Result<SampleMap> decode_samples(std::string_view bytes, const std::string& path);

/// By which model the vectors of a name and version were made, kept beside the collections: names
/// and versions are counted in two places, so that two models may have the same. Thread-safe.
class ModelSamples {
 public:
  static constexpr size_t kModelsMax = 4096;

  /// DataLoss when the file is damaged. A missing one is an empty one.
  static Result<std::unique_ptr<ModelSamples>> open(std::string path);

  std::optional<ModelSample> find(const std::string& reference) const;
  /// Whether a model server made vectors as `reference`, a version or a bare name.
  bool is_served(std::string_view reference) const;
  /// Durable when it returns; ResourceExhausted above kModelsMax.
  Result<void> put(const std::string& reference, ModelSample sample);

 private:
  ModelSamples(std::string path, SampleMap samples)
      : path_(std::move(path)), samples_(std::move(samples)) {}

  const std::string path_;
  mutable std::mutex mutex_;
  SampleMap samples_;  ///< guarded by `mutex_`
};

}  // namespace sibyl::server
