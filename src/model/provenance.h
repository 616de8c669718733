#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace sibyl::model {

/// `sibyl.json`: what a model was trained on and how, and what its files must be. Format page:
/// docs/formats/sibyl-json.md. Free-form parts are JSON texts, "null" when missing.
struct Provenance {
  std::string name;
  std::string version = "1";
  std::string base;                              ///< model that training began from
  std::string created;                           ///< ISO time
  std::string trained_on;                        ///< JSON: data counts and hashes
  std::string parameters;                        ///< JSON: every parameter chosen
  std::string metrics;                           ///< JSON: held-out metrics
  std::map<std::string, std::string> pipelines;  ///< fitted blends, "blend" -> "4*document + …"
  std::string integer_scheme = "none";
  size_t dimension = 0;
  std::map<std::string, std::string> checksums;  ///< relative path -> SHA-256
};
Result<Provenance> read_provenance(const std::string& model_path);
/// Atomically; computes the checksums of every other file in the folder.
Result<void> write_provenance(const std::string& model_path, Provenance provenance);
/// DataLoss naming the first file whose checksum is not the one recorded; fine without sibyl.json.
Result<void> verify_checksums(const std::string& model_path);

}  // namespace sibyl::model
