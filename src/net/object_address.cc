#include <algorithm>

#include "base/environment.h"
#include "net/object_store.h"

namespace sibyl::net {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr size_t kKeyBytesMax = 1024;

bool is_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                  c == '_';
         });
}

// What EKS puts into a pod whose service account has a role.
void take_identity(ObjectStoreOptions& options) {
  options.role = base::environment_variable("AWS_ROLE_ARN");
  options.identity_file = base::environment_variable("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (!options.role.empty() && !options.identity_file.empty()) {
    options.identity_url = base::environment_variable("AWS_ENDPOINT_URL_STS");
    if (options.identity_url.empty()) {
      options.identity_url = fmt::format("https://sts.{}.amazonaws.com/", options.region);
    }
    return;
  }
  options.role.clear();
  options.identity_file = base::environment_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  options.identity_url = base::environment_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
}

}  // namespace

bool is_object_uri(std::string_view uri) {
  return uri.starts_with(kScheme);
}

Result<ObjectAddress> parse_object_uri(std::string_view uri) {
  if (!is_object_uri(uri)) {
    return fail(Code::InvalidArgument, "'{}' is no object address; give s3://BUCKET/PREFIX", uri);
  }
  std::string_view rest = uri.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  ObjectAddress address{std::string(rest.substr(0, slash)), {}};
  if (!is_bucket(address.bucket)) {
    return fail(Code::InvalidArgument,
                "'{}' is no bucket's name: 3 to 63 of a-z, 0-9, '-', '.' (in '{}')", address.bucket,
                uri);
  }
  rest = rest.substr(slash);
  while (rest.starts_with('/')) {
    rest.remove_prefix(1);
  }
  while (rest.ends_with('/')) {
    rest.remove_suffix(1);
  }
  const bool odd = std::ranges::any_of(
      rest, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; });
  if (odd || rest.size() > kKeyBytesMax || rest.find("//") != std::string_view::npos) {
    return fail(Code::InvalidArgument,
                "the key of '{}' holds a control character or an empty part, or is longer than {} "
                "bytes",
                uri, kKeyBytesMax);
  }
  address.key = rest;
  return address;
}

std::string join_key(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
}

Result<ObjectStoreOptions> object_store_from_environment() {
  ObjectStoreOptions options;
  options.endpoint = base::environment_variable("AWS_ENDPOINT_URL");
  options.region = base::environment_variable("AWS_REGION");
  if (options.region.empty()) {
    options.region = base::environment_variable("AWS_DEFAULT_REGION");
  }
  if (options.region.empty()) {
    options.region = "us-east-1";  // what S3 and its imitations take for none
  }
  options.access_key = base::environment_variable("AWS_ACCESS_KEY_ID");
  options.secret_key = base::environment_variable("AWS_SECRET_ACCESS_KEY");
  options.session_token = base::environment_variable("AWS_SESSION_TOKEN");
  options.ca_file = base::environment_variable("AWS_CA_BUNDLE");
  if (!options.access_key.empty() && !options.secret_key.empty()) {
    return options;
  }
  options.access_key.clear();
  take_identity(options);
  if (options.identity_url.empty()) {
    return fail_field(Code::InvalidConfig, "AWS_ACCESS_KEY_ID",
                      "the object store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a "
                      "pod's identity (and AWS_ENDPOINT_URL where it is not Amazon's)");
  }
  return options;
}

}  // namespace sibyl::net
