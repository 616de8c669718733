#include <algorithm>
#include <array>
#include <utility>

#include "encoder/remote_encoder.h"

namespace sibyl::encoder {
namespace {

constexpr size_t kNameBytesMax = 64;
constexpr size_t kUrlBytesMax = 2048;

/// The names that the registry of models takes.
bool is_model_name(std::string_view name) {
  const auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kNameBytesMax && is_first(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_first(c) || c == '.' || c == '_' || c == '-'; });
}

Result<RemoteProtocol> protocol_of(std::string_view kind) {
  if (kind == "seldon") {
    return RemoteProtocol::Seldon;
  }
  if (kind == "v2") {
    return RemoteProtocol::OpenInference;
  }
  if (kind == "openai") {
    return fail_field(Code::Unimplemented, "encoder",
                      "--encoder with 'openai+' is not built yet; seldon+URL and v2+URL are");
  }
  return fail_field(Code::InvalidArgument, "encoder",
                    "--encoder: the kind '{}' is not known; seldon and v2 are", kind);
}

/// The URL's server and path. Never repeats the URL in an error: it may hold a password.
Result<std::pair<std::string, std::string>> split_url(std::string_view url, std::string_view name) {
  const auto wrong = [&](std::string_view why) {
    return fail_field(Code::InvalidArgument, "encoder",
                      "--encoder {}: the address {}; http://HOST:PORT or https://HOST:PORT, with a "
                      "path or without, is right",
                      name, why);
  };
  if (url.size() > kUrlBytesMax) {
    return wrong("is too long");
  }
  const bool bad = std::ranges::any_of(
      url, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; });
  if (bad) {
    return wrong("holds a space or control character");
  }
  const size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  if (scheme == 0) {
    return wrong("does not begin with http:// or https://");
  }
  const size_t slash = std::min(url.find('/', scheme), url.size());
  const std::string_view authority = url.substr(scheme, slash - scheme);
  if (url.find_first_of("?#\\") != std::string_view::npos) {
    return wrong("has a query, a fragment or a backslash");
  }
  if (authority.find('@') != std::string_view::npos) {
    return fail_field(Code::InvalidArgument, "encoder",
                      "--encoder {}: the address holds a user name or password; leave it out and "
                      "give a key in SIBYL_ENCODER_API_KEY",
                      name);
  }
  if (authority.empty() || authority.front() == ':') {
    return wrong("names no host");
  }
  std::string path(url.substr(slash));
  while (path.ends_with('/')) {
    path.pop_back();
  }
  return std::pair(std::string(url.substr(0, slash)), std::move(path));
}

std::string seldon_path(const std::string& path) {
  const bool whole = path.ends_with("/predict") || path.ends_with("/predictions");
  return whole ? path : path + "/api/v1.0/predictions";
}

/// Sets path and served name.
void set_inference_path(std::string path, RemoteAddress& address) {
  static constexpr std::string_view kModels = "/v2/models/";
  static constexpr std::string_view kInfer = "/infer";
  if (path.ends_with(kInfer)) {
    path.resize(path.size() - kInfer.size());
  }
  const size_t models = path.rfind(kModels);
  if (models == std::string::npos) {
    path += std::string(kModels) + address.name;
    address.served_name = address.name;
  } else {
    const std::string rest = path.substr(models + kModels.size());
    address.served_name = rest.substr(0, rest.find('/'));
  }
  address.path = path + std::string(kInfer);
}

}  // namespace

Result<RemoteAddress> parse_remote_address(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t plus = text.find('+', equals == std::string_view::npos ? 0 : equals);
  if (equals == std::string_view::npos || plus == std::string_view::npos) {
    return fail_field(Code::InvalidArgument, "encoder",
                      "--encoder must be NAME=seldon+URL or NAME=v2+URL, as "
                      "helpdesk=v2+http://models:8080");
  }
  RemoteAddress address;
  address.name = text.substr(0, equals);
  if (!is_model_name(address.name)) {
    return fail_field(Code::InvalidArgument, "encoder",
                      "--encoder: '{}' is no name of a model: 1 to {} of a-z, 0-9, '.', '_', '-', "
                      "the first a letter or digit",
                      text.substr(0, std::min(equals, kNameBytesMax)), kNameBytesMax);
  }
  const auto protocol = protocol_of(text.substr(equals + 1, plus - equals - 1));
  if (!protocol) {
    return tl::unexpected<Error>(protocol.error());
  }
  address.protocol = *protocol;
  auto parts = split_url(text.substr(plus + 1), address.name);
  if (!parts) {
    return pass_on(parts);
  }
  address.url = std::move(parts->first);
  if (address.protocol == RemoteProtocol::Seldon) {
    address.path = seldon_path(parts->second);
    address.served_name = address.name;
  } else {
    set_inference_path(std::move(parts->second), address);
  }
  return address;
}

}  // namespace sibyl::encoder
