#include "job/internal/model_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/stop.h"
#include "net/sha256.h"

namespace sibyl::job::internal {
namespace {

constexpr const char* kProvenanceFile = "sibyl.json";
constexpr const char* kClaimFile = "claim";
constexpr uint64_t kSmallBytesMax = uint64_t{4} << 20;
constexpr int kClaimsMax = 20;
// A store that is away for minutes must not end a run whose training took hours.
constexpr int64_t kPatienceMs = 300'000;

// The number of a version, 0 for what is none.
uint64_t number_of(std::string_view text) {
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? number : 0;
}

// The same for the same training, whoever publishes it again.
std::string identity_of(const model::Provenance& provenance) {
  return net::sha256_hex(base::dump_json(
      {{"created", provenance.created}, {"checksums", base::Json(provenance.checksums)}}));
}

}  // namespace

ModelStore::ModelStore(net::ObjectAddress address, std::unique_ptr<net::ObjectStore> store,
                       std::stop_token stop, double settle_seconds)
    : address_(std::move(address)),
      store_(std::move(store)),
      stop_(std::move(stop)),
      settle_seconds_(settle_seconds) {}

Result<ModelStore> ModelStore::open(const std::string& uri, std::stop_token stop) {
  auto options = net::object_store_from_environment();
  if (!options) {
    return pass_on(options, "SIBYL_STORE " + uri);
  }
  return open(uri, std::move(*options), std::move(stop));
}

Result<ModelStore> ModelStore::open(const std::string& uri, net::ObjectStoreOptions options,
                                    std::stop_token stop, double settle_seconds) {
  auto address = net::parse_object_uri(uri);
  if (!address) {
    return fail_field(Code::InvalidConfig, "SIBYL_STORE", "{}", address.error().message);
  }
  options.patience_ms = std::max(options.patience_ms, kPatienceMs);
  auto store = net::ObjectStore::open(std::move(options), address->bucket, stop);
  if (!store) {
    return pass_on(store, "SIBYL_STORE " + uri);
  }
  return ModelStore(std::move(*address), std::move(*store), std::move(stop), settle_seconds);
}

std::string ModelStore::key_of(const std::string& name, const std::string& rest) const {
  return net::join_key(address_.key, fmt::format("models/{}/{}", name, rest));
}

std::string ModelStore::uri_of(const std::string& name, const std::string& version) const {
  return fmt::format("s3://{}/{}", address_.bucket, key_of(name, version));
}

Result<uint64_t> ModelStore::newest_version(const std::string& name) {
  const std::string prefix = key_of(name, "");
  const auto objects = store_->list(prefix);
  if (!objects) {
    return tl::unexpected<Error>(objects.error());
  }
  uint64_t newest = 0;
  for (const net::ObjectInfo& object : *objects) {
    const std::string_view rest = std::string_view(object.key).substr(prefix.size());
    if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
      newest = std::max(newest, number_of(rest.substr(0, slash)));
    }
  }
  return newest;
}

Result<std::optional<std::string>> ModelStore::holder_of(const std::string& name,
                                                         const std::string& version) {
  auto holder = store_->get(key_of(name, version + "/" + kClaimFile), kSmallBytesMax);
  if (!holder && holder.error().code == Code::NotFound) {
    return std::optional<std::string>();
  }
  return holder ? Result<std::optional<std::string>>(std::move(*holder)) : pass_on(holder);
}

Result<void> ModelStore::write_claim(const std::string& key, const std::string& identity) {
  auto put = store_->put(key, identity, net::PutCondition::IfAbsent);
  bool decides = true;
  if (put) {
    // A store that ignores the condition takes it once more.
    const auto again = store_->put(key, identity, net::PutCondition::IfAbsent);
    decides = !again && again.error().code == Code::AlreadyExists;
  } else if (put.error().code == Code::Unimplemented) {
    decides = false;
    put = store_->put(key, identity);
  }
  if (!put && put.error().code != Code::AlreadyExists) {
    return put;
  }
  // Whoever found nothing there a moment ago has put its own claim over ours by then.
  if (!decides && base::sleep_until_stop(stop_, settle_seconds_)) {
    return fail(Code::Interrupted, "stopped while a version was claimed");
  }
  return {};
}

Result<bool> ModelStore::claim(const std::string& name, const std::string& version,
                               const std::string& identity) {
  // Looked at first: a store that does not know conditions would replace the claim of another.
  auto holder = holder_of(name, version);
  if (!holder) {
    return pass_on(holder);
  }
  if (holder->has_value()) {
    return **holder == identity;
  }
  const auto objects = store_->list(key_of(name, version + "/"));
  if (!objects) {
    return tl::unexpected<Error>(objects.error());
  }
  if (!objects->empty()) {
    return false;  // copied there by hand, without a claim
  }
  const std::string key = key_of(name, version + "/" + kClaimFile);
  if (auto written = write_claim(key, identity); !written) {
    return pass_on(written);
  }
  // Read back also when it was put: another may have been faster, and an answer may be lost.
  holder = holder_of(name, version);
  return holder ? Result<bool>(*holder == identity) : pass_on(holder);
}

Result<std::string> ModelStore::claim_version(const std::string& name, const std::string& wanted,
                                              const std::string& identity) {
  const auto newest = newest_version(name);
  if (!newest) {
    return tl::unexpected<Error>(newest.error());
  }
  std::vector<std::string> candidates;
  if (!wanted.empty()) {
    candidates.push_back(wanted);
  } else if (*newest > 0) {
    // It may be ours already: a publish that was interrupted. It is never taken anew.
    const auto holder = holder_of(name, std::to_string(*newest));
    if (!holder) {
      return tl::unexpected<Error>(holder.error());
    }
    if (*holder == identity) {
      return std::to_string(*newest);
    }
  }
  for (uint64_t next = std::max(*newest, number_of(wanted)) + 1;
       candidates.size() < static_cast<size_t>(kClaimsMax); ++next) {
    candidates.push_back(std::to_string(next));
  }
  for (const std::string& version : candidates) {
    const auto ours = claim(name, version, identity);
    if (!ours) {
      return tl::unexpected<Error>(ours.error());
    }
    if (*ours) {
      return version;
    }
  }
  return fail(Code::Unavailable,
              "no version of {} could be had in {} tries: others publish at the same time; run it "
              "again",
              name, kClaimsMax);
}

Result<std::string> ModelStore::publish(const std::string& name, const std::string& folder,
                                        const model::Provenance& provenance,
                                        const std::string& wanted) {
  auto version = claim_version(name, wanted, identity_of(provenance));
  if (!version) {
    return pass_on(version, "publishing to the store");
  }
  for (const auto& [path, checksum] : provenance.checksums) {
    if (stop_.stop_requested()) {
      return fail(Code::Interrupted, "stopped while the model was brought to the store");
    }
    auto put = store_->put_file(key_of(name, *version + "/" + path), base::join_path(folder, path));
    if (!put) {
      return pass_on(put, "publishing to the store");
    }
  }
  // Last: with it the version is whole.
  const auto text = base::read_file(base::join_path(folder, kProvenanceFile), kSmallBytesMax);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  auto json = base::parse_json(*text, kProvenanceFile);
  if (!json) {
    return pass_on(json);
  }
  (*json)["name"] = name;
  (*json)["version"] = *version;
  auto put =
      store_->put(key_of(name, *version + "/" + kProvenanceFile), base::dump_json(*json, 2) + "\n");
  if (!put) {
    return pass_on(put, "publishing to the store");
  }
  return version;
}

Result<void> ModelStore::check_version(const std::string& name, const std::string& version) {
  const auto provenance =
      store_->get(key_of(name, version + "/" + kProvenanceFile), kSmallBytesMax);
  if (!provenance && provenance.error().code == Code::NotFound) {
    return fail(Code::NotFound, "{} holds no published model", uri_of(name, version));
  }
  return provenance ? Result<void>() : tl::unexpected<Error>(provenance.error());
}

Result<void> ModelStore::point(const std::string& name, const std::string& pointer,
                               const std::string& version) {
  if (auto there = check_version(name, version); !there) {
    return there;
  }
  return store_->put(key_of(name, pointer), base::dump_json({{"version", version}}) + "\n");
}

}  // namespace sibyl::job::internal
