#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "encoder/remote_encoder.h"

namespace sibyl::encoder {
namespace {

constexpr size_t kIdleClientsMax = 8;

/// A client serves one call at a time; as many are made as calls go on at once, which the server's
/// threads bound.
class ClientPool final : public RemoteTransport {
 public:
  explicit ClientPool(net::HttpEndpoint endpoint) : endpoint_(std::move(endpoint)) {}

  Result<net::HttpReply> send(const net::HttpRequest& request, bool new_connection,
                              std::stop_token stop) override {
    auto client = new_connection ? nullptr : take();
    if (client == nullptr) {
      auto opened = net::HttpClient::open(endpoint_);
      if (!opened) {
        return pass_on(opened);
      }
      client = std::move(*opened);
    }
    std::string body;
    bool too_large = false;
    auto reply = client->stream(
        request,
        [&](std::string_view bytes) {
          too_large = bytes.size() > request.body_bytes_max - body.size();
          if (!too_large) {
            body.append(bytes);
          }
          return !too_large;
        },
        std::move(stop));
    if (!reply) {
      return pass_on(reply);
    }
    if (too_large) {
      return fail(Code::Unavailable, "the reply is larger than {} bytes", request.body_bytes_max);
    }
    if (reply->body.empty()) {
      reply->body = std::move(body);
    }
    give_back(std::move(client));
    return reply;
  }

  bool wait(int64_t microseconds, std::stop_token stop) override {
    return base::sleep_until_stop(std::move(stop), static_cast<double>(microseconds) / 1e6);
  }

 private:
  std::unique_ptr<net::HttpClient> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return nullptr;
    }
    auto client = std::move(idle_.back());
    idle_.pop_back();
    return client;
  }
  void give_back(std::unique_ptr<net::HttpClient> client) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kIdleClientsMax) {
      idle_.push_back(std::move(client));
    }
  }

  const net::HttpEndpoint endpoint_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<net::HttpClient>> idle_;
};

}  // namespace

std::shared_ptr<RemoteTransport> make_remote_transport(net::HttpEndpoint endpoint) {
  return std::make_shared<ClientPool>(std::move(endpoint));
}

}  // namespace sibyl::encoder
