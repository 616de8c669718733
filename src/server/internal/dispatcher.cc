#include "server/internal/dispatcher.h"

#include <algorithm>
#include <exception>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/metrics.h"
#include "server/internal/handlers.h"
#include "server/internal/protocol_errors.h"
#include "server/internal/replies.h"
#include "server/internal/request_id.h"

namespace sibyl::server {
namespace {

constexpr uint64_t kInflatedBytesMax = uint64_t{256} << 20;
constexpr size_t kLoggedPathBytesMax = 200;

Handler handler_of(Operation operation) {
  switch (operation) {
    case Operation::AddDocuments:
      return add_documents;
    case Operation::ListDocuments:
      return list_documents;
    case Operation::GetDocument:
      return get_document;
    case Operation::DeleteDocument:
      return delete_document;
    case Operation::Query:
      return query_collection;
    case Operation::ListCollections:
      return list_collections;
    case Operation::GetCollection:
      return get_collection;
    case Operation::PutCollection:
      return put_collection;
    case Operation::DropCollection:
      return drop_collection;
    case Operation::CancelOperation:
      return cancel_operation;
    case Operation::CompactCollection:
      return compact_collection;
    case Operation::RollbackCollection:
      return rollback_collection;
    case Operation::ListModels:
      return list_models;
    case Operation::GetModel:
      return get_model;
    case Operation::ImportModel:
      return import_model;
    case Operation::DeleteModel:
      return delete_model;
    case Operation::SetDefaultModel:
      return set_default_model;
    case Operation::Embeddings:
      return make_embeddings;
    case Operation::SubmitJob:
      return submit_job;
    case Operation::ListJobs:
      return list_jobs;
    case Operation::GetJob:
      return get_job;
    case Operation::CancelJob:
      return cancel_job;
    case Operation::ResumeJob:
      return resume_job;
    case Operation::JobLog:
      return job_log;
    case Operation::JobEvents:
      return job_events;
    case Operation::CreateUpload:
      return create_upload;
    case Operation::ListUploads:
      return list_uploads;
    case Operation::DeleteUpload:
      return delete_upload;
    case Operation::AddFeedback:
      return add_feedback;
    case Operation::ListFeedback:
      return list_feedback;
    case Operation::ModelVersion:
      return get_model_version;
    case Operation::ModelFile:
      return get_model_file;
    case Operation::InferenceServer:
      return inference_server;
    case Operation::InferenceLive:
      return inference_live;
    case Operation::InferenceReady:
      return inference_ready;
    case Operation::InferenceModel:
      return inference_model;
    case Operation::InferenceModelReady:
      return inference_model_ready;
    case Operation::Infer:
      return infer;
    case Operation::SeldonPredict:
      return seldon_predict;
    case Operation::SeldonFeedback:
      return seldon_feedback;
    case Operation::SeldonHealth:
      return seldon_health;
    case Operation::SeldonPing:
      return seldon_ping;
    case Operation::SeldonMetadata:
      return seldon_metadata;
    case Operation::Live:
      return health_live;
    case Operation::Ready:
      return health_ready;
    case Operation::Metrics:
      return show_metrics;
    case Operation::Status:
      return show_status;
    case Operation::OpenApi:
      return show_openapi;
  }
  return health_live;
}

Response method_reply(const Request& request, const std::string& allow) {
  Response response =
      request.method == "OPTIONS"
          ? empty_response(204)
          : error_response(request.path, 405,
                           {Code::InvalidArgument,
                            fmt::format("{} is not answered here; {} are", request.method, allow),
                            {}});
  response.headers["Allow"] = allow;
  return response;
}

/// Paths of commands in this process are not checked by a listener: no line ends in the log.
std::string loggable(std::string_view path) {
  std::string text(path.substr(0, kLoggedPathBytesMax));
  std::ranges::replace_if(text, [](unsigned char c) { return c <= ' ' || c == 0x7F; }, '?');
  return text;
}

void observe(const Request& request, const Response& response, std::string_view label,
             const std::string& id, int64_t took_us) {
  const std::string route(label);
  base::metrics()
      .counter("sibyl_http_requests_total", "Requests by route and status",
               {{"route", route}, {"status", std::to_string(response.status)}})
      .add();
  base::metrics()
      .histogram("sibyl_http_request_seconds", "Time to a reply, by route",
                 {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60},
                 {{"route", route}})
      .observe(static_cast<double>(took_us) / 1e6);
  const bool quiet = request.peer == Peer::InProcess || request.path.starts_with("/health/") ||
                     request.path == "/metrics";
  const auto line = [&] {
    return fmt::format("{} {} {} {:.1f} ms id={}", request.method, loggable(request.path),
                       response.status, static_cast<double>(took_us) / 1000, id);
  };
  if (quiet) {
    base::log_debug("server", "{}", line());
  } else {
    base::log_info("server", "{}", line());
  }
}

/// Why an address of the interface is not one of this server's.
Error not_of_this_role(Role role) {
  return {Code::NotFound,
          role == Role::Models
              ? "this server has the role 'models' and makes vectors; collections, jobs and the "
                "registry are served by the roles 'all' and 'answers'"
              : "this server has the role 'answers'; vectors come from one with the role 'models' "
                "or 'all'",
          {}};
}

}  // namespace

Response Dispatcher::handle(const Request& request, std::stop_token stop) const {
  const int64_t begin_us = base::system_clock().steady_us();
  const std::string id = request.id.empty() ? make_request_id() : request.id;
  std::string_view label = "other";
  Response response = answer(request, id, std::move(stop), label);
  response.headers["X-Request-Id"] = id;
  observe(request, response, label, id, base::system_clock().steady_us() - begin_us);
  return response;
}

Response Dispatcher::answer(const Request& request, const std::string& id, std::stop_token stop,
                            std::string_view& label) const {
  try {
    auto match = match_route(request.method, request.path);
    if (!match) {
      return error_response(request.path, match.error());
    }
    label = match->route != nullptr     ? match->route->pattern
            : match->unbuilt != nullptr ? std::string_view("unbuilt")
                                        : std::string_view("other");
    return answer_match(request, *match, std::move(stop));
  } catch (const std::exception& thrown) {  // memory, or a bug: one request must not end the others
    base::log_error("server", "{} {} failed: {} id={}", request.method, loggable(request.path),
                    thrown.what(), id);
    return error_response(request.path,
                          {Code::Internal, "the server failed; its log has the request's id", {}});
  }
}

Response Dispatcher::answer_match(const Request& request, const Match& match,
                                  std::stop_token stop) const {
  const bool nothing = match.route == nullptr && match.unbuilt == nullptr && match.allow.empty();
  const bool open = nothing || (match.route != nullptr && match.route->open);
  if (const auto allowed = guard_.check(request, open); !allowed) {
    Response response = error_response(request.path, allowed.error());
    if (response.status == 401) {
      response.headers["WWW-Authenticate"] = "Bearer";
    }
    return response;
  }
  if (match.unbuilt != nullptr) {
    return error_response(request.path, {Code::Unimplemented,
                                         fmt::format("{} belongs to {}, which is not built yet",
                                                     loggable(request.path), match.unbuilt->what),
                                         {}});
  }
  if (!match.allow.empty()) {
    return method_reply(request, match.allow);
  }
  if (!nothing) {
    auto response = run(request, match, std::move(stop));
    return response ? std::move(*response) : error_response(request.path, response.error());
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (services_.options.role == Role::Models) {
    if (reads && request.path == "/") {
      return json_response(200, R"({"status":"alive"})");
    }
  } else if (reads) {
    if (auto page = page_->find(request)) {
      return std::move(*page);
    }
  }
  return error_response(request.path, {Code::NotFound,
                                       fmt::format("nothing is at {}; /openapi.json lists every "
                                                   "address",
                                                   loggable(request.path)),
                                       {}});
}

Result<Response> Dispatcher::run(const Request& request, const Match& match,
                                 std::stop_token stop) const {
  const Route& route = *match.route;
  if (services_.draining && !route.open && route.operation != Operation::Metrics) {
    return fail(Code::Unavailable, "the server is shutting down");
  }
  if (!is_served(route, services_.options.role)) {
    return tl::unexpected<Error>(not_of_this_role(services_.options.role));
  }
  const Handler handler = handler_of(route.operation);
  const auto encoding = request.headers.find("content-encoding");
  if (encoding == request.headers.end() || encoding->second == "identity" || request.body.empty()) {
    return handler(services_, Call{request, match.captures, std::move(stop)});
  }
  if (encoding->second != "gzip") {
    return error_response(
        request.path, 415,
        {Code::InvalidArgument,
         fmt::format("the Content-Encoding '{}' is not read; gzip is", encoding->second),
         "Content-Encoding"});
  }
  auto inflated = base::gunzip(request.body, kInflatedBytesMax);
  if (!inflated) {
    return pass_on(inflated, "the body");
  }
  Request plain = request;
  plain.body = std::move(*inflated);
  return handler(services_, Call{plain, match.captures, std::move(stop)});
}

}  // namespace sibyl::server
