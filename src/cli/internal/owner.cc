#include "cli/internal/owner.h"

#include <utility>

#include "base/clock.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/stop.h"
#include "job/owner_client.h"
#include "net/http_client.h"
#include "server/application.h"
#include "server/listener.h"

namespace sibyl::cli {
namespace {

// A server that starts holds the lock before its socket answers, and short commands end soon.
constexpr int64_t kPatienceUs = 10'000'000;
constexpr double kBetweenTries_s = 0.25;
constexpr int64_t kPingTimeoutMs = 5'000;

class LocalOwner final : public Owner {
 public:
  LocalOwner(std::unique_ptr<server::Application> application,
             std::unique_ptr<server::Listener> listener, std::string socket)
      : application_(std::move(application)),
        listener_(std::move(listener)),
        socket_(std::move(socket)) {}
  ~LocalOwner() override {
    application_->drain();
    listener_.reset();
  }
  LocalOwner(const LocalOwner&) = delete;
  LocalOwner& operator=(const LocalOwner&) = delete;

  Result<Reply> send(const std::string& method, const std::string& target,
                     const std::string& body) override {
    auto request = make_request(method, target);
    if (!request) {
      return pass_on(request);
    }
    request->body = body;
    const server::Response response = application_->handle(*request, base::process_stop_token());
    Reply reply{response.status, response.body};
    if (response.stream) {
      response.stream(
          [&](std::string_view bytes) {
            reply.body.append(bytes);
            return true;
          },
          base::process_stop_token());
    }
    return reply;
  }

  Result<void> stream(const std::string& target,
                      const std::function<bool(std::string_view)>& on_bytes,
                      std::stop_token stop) override {
    auto request = make_request("GET", target);
    if (!request) {
      return pass_on(request);
    }
    const server::Response response = application_->handle(*request, stop);
    if (response.status >= 400) {
      auto read = job::read_reply(response.status, response.body);
      return read ? Result<void>() : pass_on(read);
    }
    if (response.stream) {
      response.stream(on_bytes, stop);
    } else {
      on_bytes(response.body);
    }
    return {};
  }

  bool in_process() const override { return true; }
  std::string server() const override { return socket_.empty() ? "" : "unix:" + socket_; }

 private:
  static Result<server::Request> make_request(const std::string& method,
                                              const std::string& target) {
    server::Request request;
    request.method = method;
    request.peer = server::Peer::InProcess;
    const size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    for (size_t at = mark; at != std::string::npos && at < target.size();) {
      const size_t end = std::min(target.find('&', at + 1), target.size());
      const std::string item = target.substr(at + 1, end - at - 1);
      const size_t equals = std::min(item.find('='), item.size());
      auto value =
          net::decode_uri_part(std::string_view(item).substr(std::min(equals + 1, item.size())));
      if (!value) {
        return pass_on(value);
      }
      request.query[item.substr(0, equals)] = std::move(*value);
      at = end;
    }
    return request;
  }

  std::unique_ptr<server::Application> application_;
  std::unique_ptr<server::Listener> listener_;
  const std::string socket_;
};

class RemoteOwner final : public Owner {
 public:
  RemoteOwner(std::unique_ptr<net::HttpClient> client, std::string socket)
      : client_(std::move(client)), socket_(std::move(socket)) {}

  Result<Reply> send(const std::string& method, const std::string& target,
                     const std::string& body) override {
    net::HttpRequest request;
    request.method = method;
    request.path = target;
    request.body = body;
    request.timeout_ms = 0;  // encoding a batch may take long, and ends when the server does
    auto reply = client_->send(request);
    if (!reply) {
      return pass_on(reply);
    }
    return Reply{reply->status, std::move(reply->body)};
  }

  Result<void> stream(const std::string& target,
                      const std::function<bool(std::string_view)>& on_bytes,
                      std::stop_token stop) override {
    net::HttpRequest request;
    request.path = target;
    request.timeout_ms = 0;
    auto reply = client_->stream(request, on_bytes, stop);
    if (!reply) {
      return pass_on(reply);
    }
    auto read = reply->status < 400 ? Result<base::Json>(base::Json())
                                    : job::read_reply(reply->status, reply->body);
    return read ? Result<void>() : pass_on(read);
  }

  bool in_process() const override { return false; }
  std::string server() const override { return "unix:" + socket_; }

 private:
  std::unique_ptr<net::HttpClient> client_;
  const std::string socket_;
};

// nullptr when the socket that the lock file names does not answer.
std::unique_ptr<Owner> connect(const std::string& socket) {
  net::HttpEndpoint endpoint;
  endpoint.url = "http://localhost";
  endpoint.unix_socket = socket;
  auto client = net::HttpClient::open(std::move(endpoint));
  if (!client) {
    return nullptr;
  }
  net::HttpRequest ping;
  ping.path = "/health/live";
  ping.timeout_ms = kPingTimeoutMs;
  const auto reply = (*client)->send(ping);
  if (!reply || reply->status != 200) {
    return nullptr;
  }
  return std::make_unique<RemoteOwner>(std::move(*client), socket);
}

Result<std::unique_ptr<Owner>> take(const std::string& data_directory, bool listen) {
  server::ApplicationOptions options;
  options.data_directory = data_directory;
  options.model_source.api_key = base::environment_variable("SIBYL_API_KEY");
  options.model_source.ca_file = base::environment_variable("SIBYL_CA_FILE");
  auto application = server::Application::open(options);
  if (!application) {
    return pass_on(application);
  }
  std::unique_ptr<server::Listener> listener;
  std::string socket;
  if (listen) {
    server::ListenerOptions where;
    where.http.clear();
    where.grpc.clear();
    where.unix_socket = server::default_socket_path(data_directory);
    auto started = server::Listener::start(**application, where);
    if (!started) {
      return pass_on(started);
    }
    listener = std::move(*started);
    socket = where.unix_socket;
    if (auto announced = (*application)->announce_socket(socket); !announced) {
      return pass_on(announced);
    }
  }
  return std::make_unique<LocalOwner>(std::move(*application), std::move(listener), socket);
}

}  // namespace

Result<std::unique_ptr<Owner>> Owner::open(const std::string& data_directory, bool listen) {
  const int64_t end_us = base::system_clock().steady_us() + kPatienceUs;
  for (;;) {
    if (const auto socket = server::owner_socket(data_directory)) {
      if (auto remote = connect(*socket)) {
        return remote;
      }
    }
    auto local = take(data_directory, listen);
    if (local || local.error().code != Code::Unavailable) {
      return local;
    }
    if (base::system_clock().steady_us() >= end_us ||
        base::sleep_until_stop(base::process_stop_token(), kBetweenTries_s)) {
      local.error().message +=
          "; its owner does not answer commands (another command may be at work): try again when "
          "it has ended";
      return local;
    }
  }
}

Result<base::Json> Owner::call(const std::string& method, const std::string& target,
                               const std::string& body) {
  auto reply = send(method, target, body);
  if (!reply) {
    return pass_on(reply);
  }
  return job::read_reply(reply->status, reply->body);
}

std::string collection_path(const std::string& name) {
  return "/v1/collections/" + net::encode_uri_part(name);
}
std::string model_path(const std::string& reference) {
  return "/v1/models/" + net::encode_uri_part(reference);
}

}  // namespace sibyl::cli
