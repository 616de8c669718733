#include <utility>

#include "base/environment.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/log.h"
#include "base/stop.h"
#include "cli/internal/commands.h"
#include "cli/internal/owner.h"
#include "cli/internal/serve_models.h"
#include "job/owner_client.h"
#include "server/application.h"
#include "server/listener.h"

namespace sibyl::cli {
namespace {

server::Role role_of(const std::string& name) {
  return name == "answers"   ? server::Role::Answers
         : name == "vectors" ? server::Role::Vectors
                             : server::Role::All;
}

Result<base::Json> call(server::Application& application, const std::string& method,
                        const std::string& path, const std::string& body) {
  server::Request request;
  request.method = method;
  request.path = path;
  request.body = body;
  request.peer = server::Peer::InProcess;
  const server::Response response = application.handle(request, base::process_stop_token());
  return job::read_reply(response.status, response.body);
}

// --model NAME=DIR_OR_URI: imported once; a name that is there stays as it is.
Result<void> import_models(server::Application& application, const Arguments& arguments) {
  for (const std::string& item : arguments.models) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
      return fail_field(Code::InvalidArgument, "model", "--model '{}' must be NAME=DIR_OR_URI",
                        item);
    }
    const std::string name = item.substr(0, equals);
    const auto there = call(application, "GET", model_path(name), {});
    if (there && !base::flag_at(*there, "served")) {
      base::log_info("cli", "model {} is there already; --model does not replace it", name);
      continue;
    }
    auto imported = call(application, "POST", "/v1/models",
                         base::dump_json({{"name", name}, {"uri", item.substr(equals + 1)}}));
    if (!imported) {
      return pass_on(imported, "--model " + item);
    }
  }
  return {};
}

}  // namespace

Result<int> serve(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.role == "models" && !arguments.encoders.empty()) {
    return fail_field(Code::InvalidArgument, "encoder",
                      "--encoder is for a server that answers; --role models has --model");
  }
  if (arguments.role == "models") {
    return serve_models(arguments, terminal);
  }
  server::ApplicationOptions options;
  options.data_directory = arguments.data;
  options.role = role_of(arguments.role);
  options.api_keys_file = arguments.api_keys;
  options.web_root = arguments.web_root;
  options.allowed_hosts = arguments.allowed_hosts;
  options.encoders = arguments.encoders;
  options.encoder_api_key = base::environment_variable("SIBYL_ENCODER_API_KEY");
  options.encoder_ca_file = base::environment_variable("SIBYL_CA_FILE");
  options.model_source.api_key = base::environment_variable("SIBYL_API_KEY");
  options.model_source.ca_file = base::environment_variable("SIBYL_CA_FILE");
  auto application = server::Application::open(options);
  if (!application) {
    return pass_on(application);
  }
  if (auto imported = import_models(**application, arguments); !imported) {
    return pass_on(imported);
  }
  server::ListenerOptions where;
  where.http = arguments.http;
  where.grpc = arguments.grpc;
  where.unix_socket = server::default_socket_path(arguments.data);
  where.tls_certificate_file = arguments.tls_certificate;
  where.tls_key_file = arguments.tls_key;
  auto listener = server::Listener::start(**application, where);
  if (!listener) {
    return pass_on(listener);
  }
  if (auto announced = (*application)->announce_socket(where.unix_socket); !announced) {
    return pass_on(announced);
  }
  const std::string url = fmt::format(
      "{}://{}", arguments.tls_certificate.empty() ? "http" : "https", (*listener)->http_address());
  if (terminal.json()) {
    terminal.print_json({{"http", url}, {"data", arguments.data}});
    std::fflush(stdout);
  } else {
    terminal.note(fmt::format("{} serves {}; stop it with Ctrl-C", url, arguments.data));
  }
  while (!base::sleep_until_stop(base::process_stop_token(), 3600)) {
  }
  terminal.note("stopping: running requests end first");
  (*application)->drain();
  listener->reset();
  return 0;
}

}  // namespace sibyl::cli
