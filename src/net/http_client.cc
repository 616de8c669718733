#include "net/http_client.h"

#include <algorithm>
#include <utility>

#include "net/internal/curl_transfer.h"

namespace sibyl::net {
namespace {

bool has_control_or_space(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; });
}

Result<void> check_endpoint(const HttpEndpoint& endpoint) {
  const bool unix_socket = !endpoint.unix_socket.empty();
  if (!unix_socket && !endpoint.url.starts_with("http://") &&
      !endpoint.url.starts_with("https://")) {
    return fail_field(Code::InvalidArgument, "url",
                      "'{}' is no address of a server; give http://host:port, https://host:port "
                      "or unix:/path/to/socket",
                      endpoint.url);
  }
  if (has_control_or_space(endpoint.url)) {
    return fail_field(Code::InvalidArgument, "url",
                      "the address holds a space or control character");
  }
  if (unix_socket && endpoint.unix_socket.size() > kUnixSocketPathMax) {
    return fail_field(Code::InvalidArgument, "url",
                      "the socket path '{}' has {} bytes; the system allows {}",
                      endpoint.unix_socket, endpoint.unix_socket.size(), kUnixSocketPathMax);
  }
  if (has_control_or_space(endpoint.api_key)) {
    return fail(Code::InvalidArgument, "the API key holds a space or control character");
  }
  return {};
}

Result<void> check_request(const HttpRequest& request) {
  if (request.method.empty() ||
      !std::ranges::all_of(request.method, [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return fail_field(Code::InvalidArgument, "method", "'{}' is no HTTP method", request.method);
  }
  if (!request.path.starts_with('/') || has_control_or_space(request.path)) {
    return fail_field(Code::InvalidArgument, "path",
                      "'{}' is no request path: it begins with '/' and has no spaces "
                      "(percent-encode them)",
                      request.path);
  }
  const auto breaks_line = [](std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
  };
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || has_control_or_space(name) || name.find(':') != std::string::npos ||
        breaks_line(value)) {
      return fail_field(Code::InvalidArgument, "headers", "the header '{}' cannot be sent", name);
    }
  }
  if (breaks_line(request.content_type)) {
    return fail_field(Code::InvalidArgument, "content_type", "it holds a line end");
  }
  return {};
}

class CurlHttpClient final : public HttpClient {
 public:
  CurlHttpClient(HttpEndpoint endpoint, std::unique_ptr<CurlTransfer> transfer)
      : endpoint_(std::move(endpoint)), transfer_(std::move(transfer)) {}

  Result<HttpReply> send(const HttpRequest& request) override {
    return run(request, nullptr, std::stop_token());
  }
  Result<HttpReply> stream(const HttpRequest& request,
                           const std::function<bool(std::string_view)>& on_bytes,
                           std::stop_token stop) override {
    return run(request, &on_bytes, std::move(stop));
  }

 private:
  Result<HttpReply> run(const HttpRequest& request,
                        const std::function<bool(std::string_view)>* on_bytes,
                        std::stop_token stop) {
    if (auto checked = check_request(request); !checked) {
      return pass_on(checked);
    }
    return transfer_->perform(endpoint_, request, on_bytes, std::move(stop));
  }

  HttpEndpoint endpoint_;
  std::unique_ptr<CurlTransfer> transfer_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::open(HttpEndpoint endpoint) {
  static constexpr std::string_view kUnixPrefix = "unix:";
  if (endpoint.unix_socket.empty() && endpoint.url.starts_with(kUnixPrefix)) {
    endpoint.unix_socket = endpoint.url.substr(kUnixPrefix.size());
    if (!endpoint.unix_socket.starts_with('/')) {
      return fail_field(Code::InvalidArgument, "url", "'{}' is not followed by an absolute path",
                        endpoint.url);
    }
    endpoint.url.clear();
  }
  if (!endpoint.unix_socket.empty() && endpoint.url.empty()) {
    endpoint.url = "http://localhost";
  }
  if (auto checked = check_endpoint(endpoint); !checked) {
    return pass_on(checked);
  }
  while (endpoint.url.ends_with('/')) {
    endpoint.url.pop_back();
  }
  auto transfer = CurlTransfer::create();
  if (!transfer) {
    return pass_on(transfer);
  }
  return std::make_unique<CurlHttpClient>(std::move(endpoint), std::move(*transfer));
}

}  // namespace sibyl::net
