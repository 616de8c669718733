#include "net/internal/credentials.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "net/http_client.h"
#include "net/internal/s3_xml.h"

namespace sibyl::net::internal {
namespace {

constexpr int64_t kRefreshBeforeUs = 300'000'000;
constexpr uint64_t kTokenBytesMax = 64 << 10;
constexpr uint64_t kReplyBytesMax = uint64_t{1} << 20;
constexpr int64_t kRequestMs = 10'000;

Result<std::string> read_token(const std::string& path) {
  auto token = base::read_file(path, kTokenBytesMax);
  if (token) {
    token->erase(token->find_last_not_of(" \r\n") + 1);
  }
  return token;
}

// "2026-11-30T15:04:05Z", with or without a fraction; 0 for what is no such time.
int64_t time_of(const std::string& text) {
  std::tm parts{};
  const char* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  return rest == nullptr ? 0 : static_cast<int64_t>(::timegm(&parts)) * 1'000'000;
}

Result<Credentials> checked(Credentials credentials) {
  const auto usable = [](const std::string& text) {
    return !text.empty() && text.size() <= kTokenBytesMax &&
           text.find_first_of(std::string_view("\r\n \0", 4)) == std::string::npos;
  };
  if (!usable(credentials.access_key) || !usable(credentials.secret_key) ||
      !usable(credentials.session_token) || credentials.expires_us == 0) {
    return fail(Code::InvalidData,
                "the reply has no AccessKeyId, SecretAccessKey, token and Expiration");
  }
  return credentials;
}

// "http://host:port/path?query" as origin and path.
std::pair<std::string, std::string> split(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t slash = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  return slash == std::string::npos ? std::pair(url, std::string("/"))
                                    : std::pair(url.substr(0, slash), url.substr(slash));
}

Result<std::string> exchange(const std::string& url, const std::string& ca_file,
                             HttpRequest request, const std::stop_token& stop, int64_t time_ms) {
  auto [origin, path] = split(url);
  auto client = HttpClient::open({origin, {}, {}, ca_file});
  if (!client) {
    return pass_on(client);
  }
  request.path = std::move(path);
  request.timeout_ms = std::min(kRequestMs, time_ms);
  request.body_bytes_max = kReplyBytesMax;
  // Through the streaming call, because that one ends at once when a stop is requested.
  std::string body;
  auto reply = (*client)->stream(
      request,
      [&](std::string_view piece) {
        body.append(piece);
        return body.size() <= kReplyBytesMax;
      },
      stop);
  if (!reply) {
    return pass_on(reply);
  }
  if (body.size() > kReplyBytesMax) {
    return fail(Code::TooLarge, "the reply of {} has more than {} bytes", origin, kReplyBytesMax);
  }
  if (reply->status != 200) {
    const Code code =
        reply->status >= 500 || reply->status == 429 ? Code::Unavailable : Code::PermissionDenied;
    return fail(code, "{} answers {} to the pod's identity", origin, reply->status);
  }
  return body;
}

}  // namespace

Result<Credentials> parse_agent_credentials(std::string_view json) {
  const auto parsed = base::parse_json(json, "the agent's reply");
  if (!parsed) {
    return fail(Code::InvalidData, "{}", parsed.error().message);
  }
  return checked({base::text_at(*parsed, "AccessKeyId"), base::text_at(*parsed, "SecretAccessKey"),
                  base::text_at(*parsed, "Token"), time_of(base::text_at(*parsed, "Expiration"))});
}

Result<Credentials> parse_role_credentials(std::string_view xml) {
  const RoleCredentials role = parse_role_reply(xml);
  return checked({role.access_key, role.secret_key, role.session_token, time_of(role.expiration)});
}

Result<Credentials> CredentialSource::get(const std::stop_token& stop, int64_t time_ms) {
  if (!options_.access_key.empty()) {
    return Credentials{options_.access_key, options_.secret_key, options_.session_token, 0};
  }
  const bool fresh = held_ && base::system_clock().now_us() < held_->expires_us - kRefreshBeforeUs;
  if (!fresh) {
    auto asked =
        options_.role.empty() ? ask_agent(stop, time_ms) : ask_token_service(stop, time_ms);
    if (!asked) {
      return pass_on(asked, "keys of the object store");
    }
    held_ = std::move(*asked);
  }
  return *held_;
}

Result<Credentials> CredentialSource::ask_token_service(const std::stop_token& stop,
                                                        int64_t time_ms) const {
  const auto token = read_token(options_.identity_file);
  if (!token) {
    return tl::unexpected<Error>(token.error());
  }
  HttpRequest request;
  request.method = "POST";
  request.content_type = "application/x-www-form-urlencoded";
  request.body = fmt::format(
      "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleSessionName=sibyl&RoleArn={}"
      "&WebIdentityToken={}",
      encode_uri_part(options_.role), encode_uri_part(*token));
  const auto reply =
      exchange(options_.identity_url, options_.ca_file, std::move(request), stop, time_ms);
  return reply ? parse_role_credentials(*reply) : tl::unexpected<Error>(reply.error());
}

Result<Credentials> CredentialSource::ask_agent(const std::stop_token& stop,
                                                int64_t time_ms) const {
  HttpRequest request;
  if (!options_.identity_file.empty()) {
    auto token = read_token(options_.identity_file);
    if (!token) {
      return pass_on(token);
    }
    request.headers["Authorization"] = std::move(*token);
  }
  const auto reply = exchange(options_.identity_url, {}, std::move(request), stop, time_ms);
  return reply ? parse_agent_credentials(*reply) : tl::unexpected<Error>(reply.error());
}

}  // namespace sibyl::net::internal
