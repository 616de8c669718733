#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "model/provenance.h"
#include "net/object_store.h"

namespace sibyl::job::internal {

/// Published models of an object store (docs/formats/model-store.md): STORE/models/NAME/VERSION/…
/// and the pointers `current` and `candidate` beside the versions. Not thread-safe.
class ModelStore {
 public:
  /// `uri` is SIBYL_STORE, "s3://bucket/prefix".
  static Result<ModelStore> open(const std::string& uri, std::stop_token stop);
  /// `settle_seconds`: in a store that does not know conditions, from a claim until it counts.
  static Result<ModelStore> open(const std::string& uri, net::ObjectStoreOptions options,
                                 std::stop_token stop, double settle_seconds = 5);

  /// Brings a model directory up as `wanted`, or where that is taken by another model (or blank)
  /// as the next free version; the version. What an interrupted call began goes on.
  Result<std::string> publish(const std::string& name, const std::string& folder,
                              const model::Provenance& provenance, const std::string& wanted);
  /// NotFound when the version is not there whole.
  Result<void> check_version(const std::string& name, const std::string& version);
  /// `pointer` is "current" or "candidate".
  Result<void> point(const std::string& name, const std::string& pointer,
                     const std::string& version);
  std::string uri_of(const std::string& name, const std::string& version) const;

 private:
  ModelStore(net::ObjectAddress address, std::unique_ptr<net::ObjectStore> store,
             std::stop_token stop, double settle_seconds);
  std::string key_of(const std::string& name, const std::string& rest) const;
  Result<uint64_t> newest_version(const std::string& name);
  /// What the claim of a version says; empty where there is none.
  Result<std::optional<std::string>> holder_of(const std::string& name, const std::string& version);
  /// Writes it, unless another was there. Waits where the store does not decide between two.
  Result<void> write_claim(const std::string& key, const std::string& identity);
  /// True when the version is ours from now on.
  Result<bool> claim(const std::string& name, const std::string& version,
                     const std::string& identity);
  Result<std::string> claim_version(const std::string& name, const std::string& wanted,
                                    const std::string& identity);

  net::ObjectAddress address_;
  std::unique_ptr<net::ObjectStore> store_;
  std::stop_token stop_;
  double settle_seconds_;
};

}  // namespace sibyl::job::internal
