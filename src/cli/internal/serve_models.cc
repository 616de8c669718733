#include "cli/internal/serve_models.h"

#include <memory>
#include <utility>

#include "base/json.h"
#include "base/stop.h"
#include "cli/internal/environment.h"
#include "cli/internal/predictive_unit.h"
#include "server/application.h"
#include "server/listener.h"

namespace sibyl::cli {
namespace {

/// Texts alone come here. Over gRPC a message is read whole before its key is, and takes many times
/// its bytes then.
constexpr uint64_t kMessageBytesMax = uint64_t{64} << 20;

/// --model NAME=DIR_OR_URI, or what Seldon's graph says.
Result<std::vector<server::ModelToServe>> models_of(const Arguments& arguments,
                                                    const PredictiveUnit& unit) {
  std::vector<server::ModelToServe> models;
  for (const std::string& item : arguments.models) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
      return fail_field(Code::InvalidArgument, "model", "--model '{}' must be NAME=DIR_OR_URI",
                        item);
    }
    models.push_back({item.substr(0, equals), item.substr(equals + 1)});
  }
  if (models.empty() && !unit.id.empty() && !unit.model_uri.empty()) {
    models.push_back({unit.id, unit.model_uri});
  }
  if (models.empty()) {
    return fail_field(Code::InvalidArgument, "model",
                      "--role models needs a model: --model NAME=DIR_OR_URI");
  }
  return models;
}

server::ListenerOptions addresses_of(const Arguments& arguments, const PredictiveUnit& unit) {
  server::ListenerOptions where;
  where.http = unit.http_port == 0 ? arguments.http : fmt::format("0.0.0.0:{}", unit.http_port);
  where.grpc = unit.grpc_port == 0 ? arguments.grpc : fmt::format("0.0.0.0:{}", unit.grpc_port);
  where.tls_certificate_file = arguments.tls_certificate;
  where.tls_key_file = arguments.tls_key;
  where.body_bytes_max = kMessageBytesMax;
  return where;
}

/// Seldon scrapes metrics from a port of their own, without TLS.
server::ListenerOptions metrics_address_of(const PredictiveUnit& unit) {
  server::ListenerOptions where;
  where.http = fmt::format("0.0.0.0:{}", unit.metrics_port);
  where.grpc.clear();
  where.threads = 1;
  where.streams_max = 1;
  where.connections_max = 64;
  where.body_bytes_max = 0;
  return where;
}

void tell_addresses(const Arguments& arguments, const Terminal& terminal,
                    const server::Listener& listener,
                    const std::vector<server::ModelToServe>& models) {
  const std::string url = fmt::format(
      "{}://{}", arguments.tls_certificate.empty() ? "http" : "https", listener.http_address());
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const server::ModelToServe& model : models) {
    names.push_back(model.name);
  }
  if (terminal.json()) {
    terminal.print_json({{"http", url}, {"grpc", listener.grpc_address()}, {"models", names}});
    std::fflush(stdout);
    return;
  }
  terminal.note(fmt::format("{} and grpc {} serve {}; stop it with Ctrl-C", url,
                            listener.grpc_address(), fmt::join(names, ", ")));
}

}  // namespace

Result<int> serve_models(const Arguments& arguments, const Terminal& terminal) {
  const auto unit = read_predictive_unit(variable);
  if (!unit) {
    return tl::unexpected<Error>(unit.error());
  }
  auto models = models_of(arguments, *unit);
  if (!models) {
    return pass_on(models);
  }
  server::ApplicationOptions options;
  options.role = server::Role::Models;
  options.api_keys_file = arguments.api_keys;
  options.model_server.models = *models;
  options.model_server.alias = unit->id;
  options.model_server.threads = unit->threads;
  options.model_server.metrics_path = unit->metrics_path;
  options.model_server.source.api_key = variable("SIBYL_API_KEY");
  options.model_server.source.ca_file = variable("SIBYL_CA_FILE");
  options.model_server.stop = base::process_stop_token();
  auto application = server::Application::open(options);
  if (!application) {
    return pass_on(application);
  }
  const auto metrics = server::make_metrics_application(**application);
  std::unique_ptr<server::Listener> metrics_listener;
  if (unit->metrics_port != 0) {
    auto started = server::Listener::start(*metrics, metrics_address_of(*unit));
    if (!started) {
      return pass_on(started);
    }
    metrics_listener = std::move(*started);
  }
  auto listener = server::Listener::start(**application, addresses_of(arguments, *unit));
  if (!listener) {
    return pass_on(listener);
  }
  tell_addresses(arguments, terminal, **listener, *models);
  while (!base::sleep_until_stop(base::process_stop_token(), 3600)) {
  }
  terminal.note("stopping: running requests end first");
  (*application)->drain();
  listener->reset();
  return 0;
}

}  // namespace sibyl::cli
