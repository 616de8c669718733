#include "server/application.h"

#include <utility>

#include "base/child_process.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "server/internal/data_directory.h"
#include "server/internal/dispatcher.h"
#include "server/internal/model_application.h"
#include "server/internal/shutdown.h"

namespace sibyl::server {
namespace {

class DataApplication final : public Application {
 public:
  DataApplication(DataDirectory directory, Guard guard, std::unique_ptr<Services> services)
      : directory_(std::move(directory)),
        services_(std::move(services)),
        dispatcher_(*services_, std::move(guard)) {}
  ~DataApplication() override { drain(); }

  Response handle(const Request& request, std::stop_token stop) override {
    return dispatcher_.handle(request, std::move(stop));
  }
  bool requires_keys() const override { return dispatcher_.requires_keys(); }
  Result<void> announce_socket(const std::string& socket_path) override {
    return directory_.lock->write_content(lock_content(socket_path, directory_.id));
  }
  void drain() override { shut_down(*services_); }

 private:
  DataDirectory directory_;  // the lock goes last
  std::unique_ptr<Services> services_;
  Dispatcher dispatcher_;
};

/// Opens what lies in the directory, from the floor up.
Result<std::unique_ptr<Services>> open_services(const ApplicationOptions& options,
                                                const DataDirectory& directory) {
  auto services = std::make_unique<Services>();
  services->options = options;
  services->directory = directory.path;
  services->directory_id = directory.id;
  services->started_us = base::system_clock().steady_us();
  const auto place = [&directory](std::string_view name) {
    return base::join_path(directory.path, name);
  };
  auto database = store::Database::open(place("collections"), {});
  if (!database) {
    return pass_on(database);
  }
  services->database = std::move(*database);
  auto registry = model::Registry::open(place("models"));
  if (!registry) {
    return pass_on(registry);
  }
  services->registry = std::move(*registry);
  services->encoders = std::make_unique<EncoderCache>(*services->registry, options.encoders_max);
  auto samples = ModelSamples::open(place("model-samples"));
  if (!samples) {
    return pass_on(samples);
  }
  std::unique_ptr<RemoteModels> remote;
  if (!options.encoders.empty()) {
    encoder::RemoteOptions how;
    how.api_key = options.encoder_api_key;
    how.ca_file = options.encoder_ca_file;
    auto opened = RemoteModels::open(options.encoders, how, {});
    if (!opened) {
      return pass_on(opened);
    }
    remote = std::move(*opened);
  }
  services->encoders->serve_from(std::move(remote), std::move(*samples));
  services->answers = answer::AnswerService::create(*services->database, *services->encoders);
  auto uploads = Uploads::open(place("uploads"), {});
  if (!uploads) {
    return pass_on(uploads);
  }
  services->uploads = std::move(*uploads);
  auto feedback = FeedbackLog::open(place("feedback.jsonl"));
  if (!feedback) {
    return pass_on(feedback);
  }
  services->feedback = std::move(*feedback);
  const std::string program = options.program.empty() ? base::own_program_path() : options.program;
  auto jobs =
      job::JobRunner::open({place("jobs"), program, "unix:" + default_socket_path(directory.path)});
  if (!jobs) {
    return pass_on(jobs);
  }
  services->set_jobs(std::move(*jobs));
  services->encoders->start_following(
      [&answers = *services->answers](const answer::ServedModel& served) {
        answers.follow(served);
      });
  return services;
}

}  // namespace

std::string_view version() {
  return SIBYL_VERSION;
}

Result<std::unique_ptr<Application>> Application::open(const ApplicationOptions& options) {
  if (options.role == Role::Models) {
    return open_model_application(options);
  }
  if (options.role == Role::Vectors) {
    return fail_field(Code::Unimplemented, "role",
                      "--role vectors is not built yet; all, answers and models are");
  }
  auto keys = ApiKeys::read(options.api_keys_file);
  if (!keys) {
    return pass_on(keys);
  }
  auto directory = own_data_directory(options.data_directory);
  if (!directory) {
    return pass_on(directory);
  }
  auto services = open_services(options, *directory);
  if (!services) {
    return pass_on(services);
  }
  return std::make_unique<DataApplication>(
      std::move(*directory), Guard(std::move(*keys), options.allowed_hosts), std::move(*services));
}

}  // namespace sibyl::server
