#include "server/internal/model_application.h"

#include <utility>

#include "base/clock.h"
#include "server/internal/dispatcher.h"
#include "server/internal/model_service.h"
#include "server/internal/shutdown.h"

namespace sibyl::server {
namespace {

class ModelApplication final : public Application {
 public:
  ModelApplication(Guard guard, std::unique_ptr<Services> services)
      : services_(std::move(services)),
        dispatcher_(*services_, std::move(guard)),
        service_(*services_, dispatcher_.guard()) {}

  Response handle(const Request& request, std::stop_token stop) override {
    const std::string& metrics = services_->options.model_server.metrics_path;
    if (!metrics.empty() && request.path == metrics) {
      Request moved = request;
      moved.path = "/metrics";
      return dispatcher_.handle(moved, std::move(stop));
    }
    return dispatcher_.handle(request, std::move(stop));
  }
  bool requires_keys() const override { return dispatcher_.requires_keys(); }
  bool loopback_only() const override { return false; }
  ModelService* model_service() override { return &service_; }
  Result<void> announce_socket(const std::string&) override {
    return {};
  }  // no directory, no owner
  void drain() override { shut_down(*services_); }

 private:
  std::unique_ptr<Services> services_;
  Dispatcher dispatcher_;
  ModelService service_;
};

class MetricsApplication final : public Application {
 public:
  explicit MetricsApplication(Application& application) : application_(application) {}

  Response handle(const Request& request, std::stop_token stop) override {
    Request moved = request;
    moved.path = "/metrics";
    return application_.handle(moved, std::move(stop));
  }
  Lane lane(const Request&) const override { return Lane::Quick; }
  bool requires_keys() const override { return application_.requires_keys(); }
  bool loopback_only() const override { return application_.loopback_only(); }
  Result<void> announce_socket(const std::string&) override { return {}; }
  void drain() override {}

 private:
  Application& application_;
};

}  // namespace

Result<std::unique_ptr<Application>> open_model_application(const ApplicationOptions& options) {
  auto keys = ApiKeys::read(options.api_keys_file);
  if (!keys) {
    return pass_on(keys);
  }
  auto services = std::make_unique<Services>();
  services->options = options;
  services->started_us = base::system_clock().steady_us();
  auto served = ServedModels::open(options.model_server, options.model_server.stop);
  if (!served) {
    return pass_on(served);
  }
  services->served = std::move(*served);
  return std::make_unique<ModelApplication>(Guard(std::move(*keys), options.allowed_hosts, true),
                                            std::move(services));
}

std::unique_ptr<Application> make_metrics_application(Application& application) {
  return std::make_unique<MetricsApplication>(application);
}

}  // namespace sibyl::server
