#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model_directory.h"

namespace sibyl::model {

struct ModelEntry {
  std::string name;
  uint32_t version = 1;
  std::string path;
  size_t dimension = 0;
  std::string kind;  ///< "transformer" or "static"
  uint64_t bytes = 0;
  bool is_default = false;
  Provenance provenance;
};

/// The models of a data directory: DIR/NAME/VERSION/… and DIR/default. Versions count up and are
/// never reused; a version appears whole (copied beside, synced, renamed). Names: 1 to 64 of
/// [a-z0-9._-], first a letter or digit. Thread-safe within the one process that owns the
/// directory.
class Registry {
 public:
  static Result<std::unique_ptr<Registry>> open(const std::string& directory);
  virtual ~Registry() = default;
  virtual std::vector<ModelEntry> list() const = 0;
  /// "name", "name@3" or "" (the default). NotFound names those there are.
  virtual Result<ModelEntry> find(const std::string& reference) const = 0;
  /// Copies a model directory in as the next version after reading it whole and checking its
  /// checksums. The first model becomes the default.
  virtual Result<ModelEntry> import(const std::string& source_directory,
                                    const std::string& name) = 0;
  virtual Result<void> export_to(const std::string& reference, const std::string& directory) = 0;
  virtual Result<void> set_default(const std::string& name) = 0;
  virtual Result<void> remove(const std::string& reference) = 0;
  virtual std::optional<std::string> default_name() const = 0;
};

}  // namespace sibyl::model
