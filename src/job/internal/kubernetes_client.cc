#include "job/internal/kubernetes_client.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "net/http_client.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

constexpr int kAttempts = 6;
// Of a server that is away: the pointer in the store has moved already.
constexpr int64_t kPatienceUs = 120'000'000;
constexpr double kPauseSMax = 5;
constexpr int64_t kRequestMs = 20'000;
constexpr uint64_t kReplyBytesMax = uint64_t{8} << 20;
constexpr uint64_t kTokenBytesMax = 64 << 10;

// Until it is there again.
bool is_away(const Result<net::HttpReply>& reply) {
  return reply ? reply->status == 429 || reply->status >= 500
               : reply.error().code == Code::Unavailable ||
                     reply.error().code == Code::DeadlineExceeded;
}

// A few times. 401: the token may just have been changed, and is read anew. 409: somebody else
// wrote between.
bool try_again(const Result<net::HttpReply>& reply) {
  return reply && (reply->status == 401 || reply->status == 409);
}

Code code_of(int status) {
  switch (status) {
    case 401:
      return Code::Unauthenticated;
    case 403:
      return Code::PermissionDenied;
    case 404:
      return Code::NotFound;
    case 409:
      return Code::FailedPrecondition;
    case 429:
      return Code::ResourceExhausted;
    default:
      return status >= 500 ? Code::Unavailable : Code::InvalidData;
  }
}

class PodClient final : public KubernetesClient {
 public:
  PodClient(std::string url, const DeployTarget& where, std::stop_token stop)
      : url_(std::move(url)),
        folder_(where.account_folder),
        first_pause_s_(where.first_pause_seconds),
        stop_(std::move(stop)) {}

  Result<Json> get(const std::string& path) override {
    net::HttpRequest request;
    request.path = path;
    return send(std::move(request));
  }
  Result<Json> apply(const std::string& path, const Json& object) override {
    net::HttpRequest request;
    request.method = "PATCH";
    request.path = path + "?fieldManager=sibyl&force=true";
    request.content_type = "application/apply-patch+yaml";  // JSON is YAML
    request.body = base::dump_json(object);
    return send(std::move(request));
  }

 private:
  Result<Json> send(net::HttpRequest request) {
    request.timeout_ms = kRequestMs;
    request.body_bytes_max = kReplyBytesMax;
    request.headers["Accept"] = "application/json";
    double pause_s = first_pause_s_;
    const int64_t start_us = base::system_clock().steady_us();
    for (int attempt = 1;; ++attempt) {
      auto reply = exchange(request);
      const bool in_time = base::system_clock().steady_us() - start_us < kPatienceUs;
      const bool again = (is_away(reply) && (in_time || attempt < kAttempts)) ||
                         (try_again(reply) && attempt < kAttempts);
      if (!again) {
        return reply ? read(request, *reply) : pass_on(reply);
      }
      if (base::sleep_until_stop(stop_, pause_s)) {
        return fail(Code::Interrupted, "stopped while the API server was asked");
      }
      pause_s = std::min(2 * pause_s, kPauseSMax);
    }
  }

  Result<net::HttpReply> exchange(const net::HttpRequest& request) const {
    const auto token = base::read_file(base::join_path(folder_, "token"), kTokenBytesMax);
    if (!token) {
      return tl::unexpected<Error>(token.error());
    }
    net::HttpEndpoint endpoint;
    endpoint.url = url_;
    endpoint.ca_file = base::join_path(folder_, "ca.crt");
    endpoint.api_key = token->substr(0, token->find_last_not_of(" \r\n") + 1);
    auto client = net::HttpClient::open(std::move(endpoint));
    if (!client) {
      return pass_on(client);
    }
    // Through the streaming call, because that one ends at once when a stop is requested.
    std::string body;
    auto reply = (*client)->stream(
        request,
        [&](std::string_view piece) {
          body.append(piece);
          return body.size() <= kReplyBytesMax;
        },
        stop_);
    if (body.size() > kReplyBytesMax) {
      return fail(Code::TooLarge, "the API server's reply has more than {} bytes", kReplyBytesMax);
    }
    if (reply && reply->status >= 200 && reply->status < 300) {
      reply->body = std::move(body);
    }
    return reply;
  }

  Result<Json> read(const net::HttpRequest& request, const net::HttpReply& reply) const {
    auto json = base::parse_json(reply.body, "the API server's reply");
    if (reply.status >= 200 && reply.status < 300) {
      return json;
    }
    const std::string said = json ? base::text_at(*json, "message") : std::string();
    return fail(code_of(reply.status), "the API server answers {} to {} {}{}{}", reply.status,
                request.method, request.path.substr(0, request.path.find('?')),
                said.empty() ? "" : ": ", said);
  }

  const std::string url_;
  const std::string folder_;
  const double first_pause_s_;
  const std::stop_token stop_;
};

}  // namespace

Result<std::unique_ptr<KubernetesClient>> KubernetesClient::open(const DeployTarget& where,
                                                                 std::stop_token stop) {
  if (where.api_host.empty()) {
    return fail_field(Code::Unavailable, "KUBERNETES_SERVICE_HOST",
                      "KUBERNETES_SERVICE_HOST is not set: the step deploy runs in a pod of the "
                      "cluster");
  }
  if (!base::real_file_system().exists(base::join_path(where.account_folder, "token"))) {
    return fail(Code::Unavailable,
                "{}/token is not there: the pod needs a service account with its token mounted",
                where.account_folder);
  }
  const bool six = where.api_host.find(':') != std::string::npos;
  return std::make_unique<PodClient>(
      fmt::format("https://{}{}{}:{}", six ? "[" : "", where.api_host, six ? "]" : "",
                  where.api_port.empty() ? "443" : where.api_port),
      where, std::move(stop));
}

}  // namespace sibyl::job::internal
