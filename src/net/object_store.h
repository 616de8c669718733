#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::net {

/// Where an object, or a prefix of objects, lies.
struct ObjectAddress {
  std::string bucket;
  std::string key;  ///< without a slash at either end; empty: the whole bucket
};
/// "s3://bucket/some/key". InvalidArgument naming what is wrong.
Result<ObjectAddress> parse_object_uri(std::string_view uri);
bool is_object_uri(std::string_view uri);
/// "a/b", without a slash at the front when `prefix` is empty.
std::string join_key(std::string_view prefix, std::string_view name);

struct ObjectInfo {
  std::string key;
  uint64_t bytes = 0;
  std::string etag;
};

/// What put asks of the object that is there.
enum class PutCondition {
  None,
  IfAbsent,  ///< AlreadyExists when there is one
};

struct ObjectStoreOptions {
  std::string endpoint;  ///< "https://host:port"; empty: Amazon S3 of the region
  std::string region;
  std::string access_key;
  std::string secret_key;  ///< never logged
  std::string session_token;
  // A pod's own identity, where access_key is empty.
  std::string role;           ///< to be taken at `identity_url`; empty: that is an agent's address
  std::string identity_file;  ///< holds the pod's token, which changes
  std::string identity_url;
  std::string ca_file;             ///< empty: the system's
  int attempts = 6;                ///< of each request that the store could not answer
  int64_t patience_ms = 0;         ///< and as many more as begin within this time
  int64_t first_pause_ms = 200;    ///< before the second attempt; doubles, with jitter, to 5 s
  int64_t request_ms = 30'000;     ///< of a small request; large ones get time by their size
  uint64_t part_bytes = 16 << 20;  ///< larger files go in parts, up and down
};
/// From AWS_ENDPOINT_URL, AWS_REGION (or AWS_DEFAULT_REGION), AWS_ACCESS_KEY_ID,
/// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_CA_BUNDLE; without keys the identity that EKS
/// gives to a pod: AWS_ROLE_ARN with AWS_WEB_IDENTITY_TOKEN_FILE (AWS_ENDPOINT_URL_STS), or
/// AWS_CONTAINER_CREDENTIALS_FULL_URI with AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE. InvalidConfig
/// without any of them.
Result<ObjectStoreOptions> object_store_from_environment();

/// Objects of one bucket over the S3 protocol, requests signed with Signature Version 4. Requests
/// that fail for reasons of the store or the network are tried again. Errors: NotFound,
/// PermissionDenied, InvalidConfig (wrong region), Unavailable, DeadlineExceeded, Interrupted,
/// Unimplemented (501: what was asked for is not known to this store, and not tried again).
/// Not thread-safe; make one a thread.
class ObjectStore {
 public:
  static Result<std::unique_ptr<ObjectStore>> open(ObjectStoreOptions options, std::string bucket,
                                                   std::stop_token stop = {});
  virtual ~ObjectStore() = default;

  /// A small object; TooLarge above `bytes_max`.
  virtual Result<std::string> get(const std::string& key, uint64_t bytes_max) = 0;
  /// Into a file that appears whole, by a rename; its parent folder is there. DataLoss when the
  /// bytes are not those that `put_file` noted.
  virtual Result<void> get_file(const std::string& key, const std::string& path) = 0;
  virtual Result<void> put(const std::string& key, std::string bytes,
                           PutCondition condition = PutCondition::None) = 0;
  /// The object appears whole, whatever happens in between. Its SHA-256 is noted beside it.
  virtual Result<void> put_file(const std::string& key, const std::string& path) = 0;
  /// Every object whose key begins with `prefix`, in key order; ResourceExhausted above
  /// `objects_max`, InvalidData when the store's pages do not end.
  virtual Result<std::vector<ObjectInfo>> list(const std::string& prefix,
                                               size_t objects_max = 100'000) = 0;
  /// No error when there is none.
  virtual Result<void> remove(const std::string& key) = 0;
};

}  // namespace sibyl::net
