#include "net/internal/s3_connection.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/stop.h"
#include "net/internal/credentials.h"
#include "net/internal/s3_xml.h"
#include "net/internal/sigv4.h"
#include "net/sha256.h"

namespace sibyl::net::internal {
namespace {

constexpr int64_t kPauseMsMax = 5000;
// Of the body of a refusal; a wanted body has a limit of its own.
constexpr uint64_t kErrorBytesMax = uint64_t{1} << 20;
// A line slower than this is as good as none.
constexpr int64_t kBytesPerMsLowest = 200;

bool try_again(int status, const S3Error& error) {
  return status == 408 || status == 429 || (status >= 500 && status != 501) ||
         error.code == "RequestTimeout" || error.code == "ExpiredToken" ||
         error.code == "OperationAborted" || error.code == "ConditionalRequestConflict";
}

// Some stores answer 404 also where they do not know who asks; that is no word about the object.
bool is_answer(const HttpReply& reply) {
  if (reply.status == 404) {
    const std::string code = parse_s3_error(reply.body).code;
    return code.empty() || code.starts_with("NoSuch") || code == "NotFound";
  }
  return (reply.status >= 200 && reply.status < 300) || reply.status == 304 ||
         reply.status == 412 || reply.status == 416;
}

Code code_of(int status, const S3Error& error) {
  const bool elsewhere = error.code == "AuthorizationHeaderMalformed" ||
                         error.code == "PermanentRedirect" || error.code == "TemporaryRedirect";
  if (elsewhere || (status >= 300 && status < 400)) {
    return Code::InvalidConfig;
  }
  if (status == 401 || status == 403 || status == 404) {
    return error.code == "RequestTimeTooSkewed" ? Code::InvalidConfig : Code::PermissionDenied;
  }
  if (status == 429) {
    return Code::ResourceExhausted;
  }
  if (status == 501) {
    return Code::Unimplemented;
  }
  return status >= 500 || status == 408 ? Code::Unavailable : Code::InvalidData;
}

std::string advice(Code code, const ObjectStoreOptions& options) {
  if (code == Code::InvalidConfig) {
    return fmt::format("; the region is '{}' (AWS_REGION), and this machine's clock must be right",
                       options.region);
  }
  return code == Code::PermissionDenied
             ? "; the key (AWS_ACCESS_KEY_ID, or the pod's role) must be allowed to do this"
             : "";
}

class SignedConnection final : public S3Connection {
 public:
  SignedConnection(ObjectStoreOptions options, std::string bucket, std::stop_token stop,
                   std::unique_ptr<HttpClient> client, std::string host, std::string base_path)
      : options_(std::move(options)),
        bucket_(std::move(bucket)),
        stop_(std::move(stop)),
        client_(std::move(client)),
        host_(std::move(host)),
        base_path_(std::move(base_path)),
        credentials_(options_) {}

  Result<HttpReply> send(S3Request request) override {
    HttpRequest http;
    http.method = request.method;
    http.path = path_of(request.key);
    http.body = std::move(request.body);
    http.content_type = "application/octet-stream";
    http.body_bytes_max = kErrorBytesMax;
    const std::string signed_path = http.path;
    if (!request.query.empty()) {
      http.path += "?" + encode_query(request.query);
    }
    const std::string payload = sha256_hex(http.body);
    const int64_t start_us = base::system_clock().steady_us();
    const Limits limits{request.last_ms > 0 ? std::stop_token() : stop_,
                        request.last_ms > 0 ? start_us + request.last_ms * 1000 : 0};
    const auto is_patient = [&] {
      return base::system_clock().steady_us() - start_us < options_.patience_ms * 1000;
    };
    Error last{Code::Unavailable, "the object store was not asked", {}};
    for (int attempt = 1; attempt <= std::max(1, options_.attempts) || is_patient(); ++attempt) {
      if (limits.stop.stop_requested() || (attempt > 1 && !pause(attempt, limits))) {
        break;
      }
      if (attempt == options_.attempts + 1) {
        base::log_warning("net", "{}; the store is waited for", last.message);
      }
      http.timeout_ms = time_of(http.body.size(), limits);
      if (http.timeout_ms <= 0) {
        break;
      }
      auto reply = sign_and_send(request, http, signed_path, payload, limits.stop);
      if (!reply) {
        last = reply.error();
        if (last.code != Code::Unavailable && last.code != Code::DeadlineExceeded) {
          return tl::unexpected<Error>(std::move(last));
        }
        continue;
      }
      if (is_answer(*reply)) {
        return reply;
      }
      const S3Error error = parse_s3_error(reply->body);
      if (error.code == "ExpiredToken") {
        credentials_.forget();
      }
      last = describe(request, *reply, error);
      if (!try_again(reply->status, error)) {
        return tl::unexpected<Error>(std::move(last));
      }
    }
    if (limits.stop.stop_requested()) {
      return fail(Code::Interrupted, "stopped while s3://{}/{} was waited for", bucket_,
                  request.key);
    }
    return tl::unexpected<Error>(std::move(last));
  }

  const ObjectStoreOptions& options() const override { return options_; }
  const std::string& bucket() const override { return bucket_; }

 private:
  /// Of one request.
  struct Limits {
    std::stop_token stop;
    int64_t deadline_us = 0;  ///< steady clock; 0: none
  };

  std::string path_of(const std::string& key) const {
    std::string path = base_path_ + "/";
    for (size_t begin = 0; begin <= key.size() && !key.empty();) {
      const size_t end = std::min(key.find('/', begin), key.size());
      path += encode_uri_part(std::string_view(key).substr(begin, end - begin));
      if (end == key.size()) {
        break;
      }
      path += '/';
      begin = end + 1;
    }
    return path;
  }

  Result<HttpReply> sign_and_send(const S3Request& request, HttpRequest& http,
                                  const std::string& path, const std::string& payload,
                                  const std::stop_token& stop) {
    const auto keys = credentials_.get(stop, http.timeout_ms);
    if (!keys) {
      return tl::unexpected<Error>(keys.error());
    }
    http.headers = signed_headers(request, path, payload, *keys);
    return exchange(http, request.reply_bytes_max, stop);
  }

  std::map<std::string, std::string> signed_headers(const S3Request& request,
                                                    const std::string& path,
                                                    const std::string& payload,
                                                    const Credentials& keys) const {
    SigningInput input;
    input.method = request.method;
    input.path = path;
    input.query = request.query;
    input.now_us = base::system_clock().now_us();
    input.headers = request.headers;
    input.headers["host"] = host_;
    input.headers["x-amz-content-sha256"] = payload;
    input.headers["x-amz-date"] = signing_time(input.now_us);
    if (!keys.session_token.empty()) {
      input.headers["x-amz-security-token"] = keys.session_token;
    }
    input.payload_sha256 = payload;
    input.region = options_.region;
    input.access_key = keys.access_key;
    input.secret_key = keys.secret_key;
    std::map<std::string, std::string> headers = input.headers;
    headers["authorization"] = sign(input);
    return headers;
  }

  // Through the streaming call, because that one ends at once when a stop is requested.
  Result<HttpReply> exchange(const HttpRequest& request, uint64_t bytes_max,
                             const std::stop_token& stop) {
    std::string body;
    bool too_large = false;
    auto reply = client_->stream(
        request,
        [&](std::string_view piece) {
          too_large = body.size() + piece.size() > bytes_max;
          if (!too_large) {
            body.append(piece);
          }
          return !too_large;
        },
        stop);
    if (too_large) {
      return fail(Code::TooLarge, "the reply of {} has more than {} bytes", host_, bytes_max);
    }
    if (reply && reply->status >= 200 && reply->status < 300) {
      reply->body = std::move(body);
    }
    return reply;
  }

  // Time of one attempt: by what is sent and may come, cut at the deadline; at most 0: none left.
  int64_t time_of(uint64_t body_bytes, const Limits& limits) const {
    const int64_t whole_ms =
        options_.request_ms +
        static_cast<int64_t>(std::max(body_bytes, options_.part_bytes)) / kBytesPerMsLowest;
    if (limits.deadline_us == 0) {
      return whole_ms;
    }
    return std::min(whole_ms, (limits.deadline_us - base::system_clock().steady_us()) / 1000);
  }

  // False when there is no time for another attempt.
  bool pause(int attempt, const Limits& limits) {
    const int64_t doubled = options_.first_pause_ms << std::min(attempt - 2, 20);
    const int64_t longest = std::min(doubled, kPauseMsMax);
    const auto length_ms = static_cast<double>(longest) * (0.5 + 0.5 * random_.uniform());
    if (limits.deadline_us != 0 &&
        base::system_clock().steady_us() + static_cast<int64_t>(length_ms * 1000) >=
            limits.deadline_us) {
      return false;
    }
    return !base::sleep_until_stop(limits.stop, length_ms / 1000);
  }

  Error describe(const S3Request& request, const HttpReply& reply, const S3Error& error) const {
    const Code code = code_of(reply.status, error);
    return Error{code,
                 fmt::format("the object store answers {}{}{} to {} of s3://{}/{}{}", reply.status,
                             error.code.empty() ? "" : " " + error.code,
                             error.message.empty() ? "" : " (" + error.message + ")",
                             request.method, bucket_, request.key, advice(code, options_)),
                 {}};
  }

  const ObjectStoreOptions options_;
  const std::string bucket_;
  const std::stop_token stop_;
  std::unique_ptr<HttpClient> client_;
  const std::string host_;
  const std::string base_path_;
  CredentialSource credentials_;
  base::Random random_{static_cast<uint64_t>(base::system_clock().steady_us())};
};

// The host as the header names it: without the port that the scheme has anyway.
std::string host_header(const std::string& url) {
  const bool tls = url.starts_with("https://");
  std::string host = url.substr(url.find("://") + 3);
  host = host.substr(0, host.find('/'));
  const std::string_view usual = tls ? ":443" : ":80";
  if (host.ends_with(usual)) {
    host.resize(host.size() - usual.size());
  }
  return host;
}

}  // namespace

Result<std::unique_ptr<S3Connection>> S3Connection::open(ObjectStoreOptions options,
                                                         std::string bucket, std::stop_token stop) {
  HttpEndpoint endpoint;
  endpoint.ca_file = options.ca_file;
  endpoint.url = options.endpoint;
  while (endpoint.url.ends_with('/')) {
    endpoint.url.pop_back();
  }
  std::string base_path = "/" + bucket;
  if (endpoint.url.empty()) {
    // A dot in a bucket's name is no part of the certificate's wildcard.
    const bool in_host = bucket.find('.') == std::string::npos;
    endpoint.url =
        fmt::format("https://{}s3.{}.amazonaws.com", in_host ? bucket + "." : "", options.region);
    base_path = in_host ? "" : base_path;
  } else if (endpoint.url.find("://") == std::string::npos) {
    return fail_field(Code::InvalidConfig, "AWS_ENDPOINT_URL",
                      "'{}' must be https://HOST:PORT or http://HOST:PORT", options.endpoint);
  } else if (const size_t slash = endpoint.url.find('/', endpoint.url.find("://") + 3);
             slash != std::string::npos) {
    base_path = endpoint.url.substr(slash) + base_path;
    endpoint.url.resize(slash);
  }
  const std::string host = host_header(endpoint.url);
  auto client = HttpClient::open(std::move(endpoint));
  if (!client) {
    return pass_on(client, "AWS_ENDPOINT_URL");
  }
  return std::make_unique<SignedConnection>(std::move(options), std::move(bucket), std::move(stop),
                                            std::move(*client), host, std::move(base_path));
}

}  // namespace sibyl::net::internal
