#include "job/owner_client.h"

#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "net/http_client.h"

namespace sibyl::job {
namespace {

constexpr int64_t kStallMs = 60'000;
constexpr uint64_t kProblemBytesMax = uint64_t{1} << 20;

// For replies that carry no kind of their own, as those of a proxy in between.
Code code_of_status(int status) {
  switch (status) {
    case 401:
      return Code::Unauthenticated;
    case 403:
      return Code::PermissionDenied;
    case 404:
      return Code::NotFound;
    case 409:
      return Code::FailedPrecondition;
    case 413:
      return Code::TooLarge;
    case 429:
      return Code::ResourceExhausted;
    case 501:
      return Code::Unimplemented;
    case 502:
    case 503:
      return Code::Unavailable;
    case 504:
      return Code::DeadlineExceeded;
    case 507:
      return Code::IoError;
    default:
      return status >= 500 ? Code::Internal : Code::InvalidArgument;
  }
}

class HttpOwnerClient final : public OwnerClient {
 public:
  HttpOwnerClient(std::unique_ptr<net::HttpClient> client, bool shares_paths)
      : client_(std::move(client)), shares_paths_(shares_paths) {}

  Result<base::Json> call(const std::string& method, const std::string& path,
                          const std::string& body, int64_t timeout_ms) override {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.timeout_ms = timeout_ms;
    return send(request);
  }

  Result<std::string> upload(const std::string& name, std::string bytes) override {
    net::HttpRequest request;
    request.method = "POST";
    request.path = "/v1/uploads?name=" + net::encode_uri_part(name);
    request.body = std::move(bytes);
    request.content_type = "application/octet-stream";
    request.timeout_ms = 0;  // as long as the line needs
    auto reply = send(request);
    if (!reply) {
      return pass_on(reply, "uploading " + name);
    }
    std::string id = base::text_at(*reply, "id");
    if (id.empty()) {
      return fail(Code::Unavailable, "the server's reply to the upload of {} names no id", name);
    }
    return id;
  }

  Result<void> download(const std::string& path, const std::string& target, uint64_t bytes_max,
                        std::stop_token stop) override {
    auto file = base::real_file_system().create(target);
    if (!file) {
      return pass_on(file);
    }
    net::HttpRequest request;
    request.path = path;
    request.timeout_ms = 0;  // as long as the line needs, while something comes
    request.stall_ms = kStallMs;
    request.body_bytes_max = kProblemBytesMax;
    uint64_t bytes = 0;
    Result<void> written;
    const auto reply = client_->stream(
        request,
        [&](std::string_view piece) {
          bytes += piece.size();
          written = bytes <= bytes_max
                        ? (*file)->append(piece)
                        : fail(Code::TooLarge, "{} has more than {} bytes", path, bytes_max);
          return written.has_value();
        },
        std::move(stop));
    if (!written || !reply) {
      return !written ? written : tl::unexpected<Error>(reply.error());
    }
    if (auto good = read_reply(reply->status, reply->status < 400 ? std::string() : reply->body);
        !good) {
      return pass_on(good);
    }
    return (*file)->close();
  }

  bool shares_paths() const override { return shares_paths_; }

 private:
  Result<base::Json> send(const net::HttpRequest& request) {
    const auto reply = client_->send(request);
    if (!reply) {
      return tl::unexpected<Error>(reply.error());
    }
    return read_reply(reply->status, reply->body);
  }

  std::unique_ptr<net::HttpClient> client_;
  const bool shares_paths_;
};

}  // namespace

Result<base::Json> read_reply(int status, const std::string& body) {
  base::Json json;
  if (!body.empty()) {
    auto parsed = base::parse_json(body, "reply");
    if (!parsed && status < 400) {
      return fail(Code::Unavailable, "the server's reply is not JSON: {}", parsed.error().message);
    }
    json = parsed ? std::move(*parsed) : base::Json();
  }
  if (status < 400) {
    return json;
  }
  // OpenAI's form holds the same inside "error".
  const base::Json& problem =
      json.is_object() && json.contains("error") && json["error"].is_object() ? json["error"]
                                                                              : json;
  const auto text = [&](const char* key) {
    return problem.is_object() && problem.contains(key) && problem[key].is_string()
               ? problem[key].get<std::string>()
               : std::string();
  };
  Error error;
  // Codes of other protocols, as "model_not_found", are none of ours.
  error.code = code_from_name(text("code"));
  if (code_name(error.code) != text("code")) {
    error.code = code_of_status(status);
  }
  error.message = !text("detail").empty() ? text("detail") : text("message");
  error.field = !text("field").empty() ? text("field") : text("param");
  if (error.message.empty()) {
    error.message = fmt::format("the server answered {}", status);
  }
  return tl::unexpected<Error>(std::move(error));
}

Result<std::unique_ptr<OwnerClient>> OwnerClient::open(const std::string& server,
                                                       const std::string& api_key,
                                                       const std::string& ca_file) {
  if (server.empty()) {
    return fail_field(Code::Unavailable, "server",
                      "this needs the owner of the data directory: give --server unix:/PATH or "
                      "http://HOST:PORT");
  }
  net::HttpEndpoint endpoint;
  endpoint.api_key = api_key;
  endpoint.ca_file = ca_file;
  if (server.starts_with("unix:")) {
    endpoint.unix_socket = server.substr(5);
    endpoint.url = "http://localhost";
  } else {
    endpoint.url = server;
  }
  const bool shares_paths = !endpoint.unix_socket.empty();
  auto client = net::HttpClient::open(std::move(endpoint));
  if (!client) {
    return pass_on(client);
  }
  return std::make_unique<HttpOwnerClient>(std::move(*client), shares_paths);
}

}  // namespace sibyl::job
