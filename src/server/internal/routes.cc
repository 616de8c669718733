#include "server/internal/routes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "server/internal/request_target.h"

namespace sibyl::server {
namespace {

constexpr bool kKey = false;
constexpr bool kOpen = true;
constexpr Served kModels = Served::WhereModelsRun;
constexpr Served kAll = Served::Everywhere;

using enum Operation;
constexpr std::array kRoutes = std::to_array<Route>({
    {AddDocuments, "POST", "/v1/collections/{collection}/documents", Lane::Long, kKey,
     "Add or replace documents: a JSON array or JSONL", "Documents", "AddReport", 200, "origins"},
    {ListDocuments, "GET", "/v1/collections/{collection}/documents", Lane::Quick, kKey,
     "Documents in id order", "", "DocumentPage", 200, "after limit"},
    {GetDocument, "GET", "/v1/collections/{collection}/documents/{id}", Lane::Quick, kKey,
     "A document as it was given", "", "Document", 200, ""},
    {DeleteDocument, "DELETE", "/v1/collections/{collection}/documents/{id}", Lane::Quick, kKey,
     "Delete a document", "", "", 204, ""},
    {Query, "POST", "/v1/collections/{collection}/query", Lane::Quick, kKey, "Ask a question",
     "Query", "QueryReply", 200, ""},
    {ListCollections, "GET", "/v1/collections", Lane::Quick, kKey, "Every collection", "",
     "CollectionList", 200, ""},
    {GetCollection, "GET", "/v1/collections/{collection}", Lane::Quick, kKey,
     "Settings and size of a collection", "", "Collection", 200, ""},
    {PutCollection, "PUT", "/v1/collections/{collection}", Lane::Long, kKey,
     "Create a collection, or merge settings into it", "CollectionSettings", "Collection", 200,
     "wait"},
    {DropCollection, "DELETE", "/v1/collections/{collection}", Lane::Long, kKey,
     "Delete a collection with its documents", "", "", 204, ""},
    {CompactCollection, "POST", "/v1/collections/{collection}/compact", Lane::Long, kKey,
     "Rewrite the segments without deleted rows", "", "Collection", 200, ""},
    {CancelOperation, "DELETE", "/v1/collections/{collection}/operation", Lane::Quick, kKey,
     "Stop the long operation that runs; the collection stays as it was", "", "", 202, ""},
    {RollbackCollection, "POST", "/v1/collections/{collection}/rollback", Lane::Long, kKey,
     "Go back to the model before the current one", "", "Collection", 200, "wait"},
    {ListModels, "GET", "/v1/models", Lane::Quick, kKey, "Every model, in OpenAI's list form", "",
     "ModelList", 200, "", kAll},
    {ImportModel, "POST", "/v1/models", Lane::Long, kKey,
     "Import a model directory as the next version of a name", "ModelImport", "Model", 201, ""},
    {GetModel, "GET", "/v1/models/{model}", Lane::Quick, kKey, "A model with its provenance", "",
     "Model", 200, "", kAll},
    {ModelVersion, "GET", "/v1/models/{model}/{version}", Lane::Quick, kKey,
     "A version of a model; `current` is the newest", "", "Model", 200, ""},
    {ModelFile, "GET", "/v1/models/{model}/{version}/{file...}", Lane::Quick, kKey,
     "A file of a version, as the model's sibyl.json lists them", "", "", 200, ""},
    {DeleteModel, "DELETE", "/v1/models/{model}", Lane::Long, kKey, "Delete a model", "", "", 204,
     ""},
    {SetDefaultModel, "PUT", "/v1/models/{model}/default", Lane::Quick, kKey,
     "Make a model the default", "", "Model", 200, ""},
    {Embeddings, "POST", "/v1/embeddings", Lane::Quick, kKey, "Texts to vectors, in OpenAI's form",
     "EmbeddingRequest", "EmbeddingReply", 200, "", kModels},
    {InferenceServer, "GET", "/v2", Lane::Quick, kOpen, "Name and version of the server", "",
     "InferenceServer", 200, "", kModels},
    {InferenceLive, "GET", "/v2/health/live", Lane::Immediate, kOpen, "Whether the process answers",
     "", "Any", 200, "", kModels},
    {InferenceReady, "GET", "/v2/health/ready", Lane::Immediate, kOpen, "Whether work is taken", "",
     "Any", 200, "", kModels},
    {InferenceModel, "GET", "/v2/models/{model}", Lane::Quick, kKey,
     "Inputs and outputs of a model", "", "InferenceModel", 200, "", kModels},
    {InferenceModel, "GET", "/v2/models/{model}/versions/{version}", Lane::Quick, kKey,
     "Inputs and outputs of a version", "", "InferenceModel", 200, "", kModels},
    {InferenceModelReady, "GET", "/v2/models/{model}/ready", Lane::Quick, kKey,
     "Whether a model takes work", "", "Any", 200, "", kModels},
    {InferenceModelReady, "GET", "/v2/models/{model}/versions/{version}/ready", Lane::Quick, kKey,
     "Whether a version takes work", "", "Any", 200, "", kModels},
    {Infer, "POST", "/v2/models/{model}/infer", Lane::Quick, kKey,
     "Texts to vectors, in the form of the Open Inference Protocol v2", "InferRequest",
     "InferReply", 200, "", kModels},
    {Infer, "POST", "/v2/models/{model}/versions/{version}/infer", Lane::Quick, kKey,
     "The same with a version", "InferRequest", "InferReply", 200, "", kModels},
    {SeldonPredict, "POST", "/predict", Lane::Quick, kKey,
     "Texts to vectors, in Seldon Core's form", "SeldonMessage", "SeldonMessage", 200, "json",
     kModels},
    {SeldonPredict, "GET", "/predict", Lane::Quick, kKey, "The same with `json=` in the address",
     "", "SeldonMessage", 200, "json", kModels},
    {SeldonPredict, "POST", "/api/v1.0/predictions", Lane::Quick, kKey,
     "Texts to vectors, at the address that Seldon's clients use", "SeldonMessage", "SeldonMessage",
     200, "json", kModels},
    {SeldonPredict, "POST", "/api/v0.1/predictions", Lane::Quick, kKey, "The same, older",
     "SeldonMessage", "SeldonMessage", 200, "json", kModels},
    {SeldonPredict, "POST", "/seldon/{deployment}/api/v1.0/predictions", Lane::Quick, kKey,
     "The same behind a gateway that leaves its prefix on", "SeldonMessage", "SeldonMessage", 200,
     "json", kModels},
    {SeldonPredict, "POST", "/seldon/{namespace}/{deployment}/api/v1.0/predictions", Lane::Quick,
     kKey, "The same with a namespace", "SeldonMessage", "SeldonMessage", 200, "json", kModels},
    {SeldonFeedback, "POST", "/seldon/{deployment}/api/v1.0/feedback", Lane::Quick, kKey,
     "A reward, behind such a gateway", "SeldonFeedback", "SeldonMessage", 200, "json", kModels},
    {SeldonFeedback, "POST", "/seldon/{namespace}/{deployment}/api/v1.0/feedback", Lane::Quick,
     kKey, "The same with a namespace", "SeldonFeedback", "SeldonMessage", 200, "json", kModels},
    {SeldonFeedback, "POST", "/send-feedback", Lane::Quick, kKey, "A reward, counted as a metric",
     "SeldonFeedback", "SeldonMessage", 200, "json", kModels},
    {SeldonFeedback, "POST", "/api/v1.0/feedback", Lane::Quick, kKey,
     "A reward, counted as a metric", "SeldonFeedback", "SeldonMessage", 200, "json", kModels},
    {SeldonFeedback, "POST", "/api/v0.1/feedback", Lane::Quick, kKey, "The same, older",
     "SeldonFeedback", "SeldonMessage", 200, "json", kModels},
    {SeldonHealth, "GET", "/health/status", Lane::Immediate, kOpen, "Whether work is taken", "",
     "SeldonMessage", 200, "", kModels},
    {SeldonHealth, "GET", "/api/v1.0/health/status", Lane::Immediate, kOpen,
     "Whether work is taken", "", "SeldonMessage", 200, "", kModels},
    {SeldonPing, "GET", "/health/ping", Lane::Immediate, kOpen, "The text `pong`", "", "", 200, "",
     kModels},
    {SeldonMetadata, "GET", "/metadata", Lane::Quick, kKey, "Inputs and outputs of the model", "",
     "Any", 200, "", kModels},
    {SeldonMetadata, "GET", "/api/v1.0/metadata", Lane::Quick, kKey,
     "Inputs and outputs of the model", "", "Any", 200, "", kModels},
    {OpenApi, "GET", "/seldon.json", Lane::Quick, kOpen, "This description", "", "Any", 200, "",
     kModels},
    {SubmitJob, "POST", "/v1/jobs", Lane::Quick, kKey, "Start a job from a job file as JSON",
     "JobFile", "Job", 202, ""},
    {ListJobs, "GET", "/v1/jobs", Lane::Quick, kKey, "Every job, newest first", "", "JobList", 200,
     ""},
    {GetJob, "GET", "/v1/jobs/{job}", Lane::Quick, kKey, "A job", "", "Job", 200, ""},
    {CancelJob, "DELETE", "/v1/jobs/{job}", Lane::Quick, kKey, "Cancel a job", "", "Job", 202, ""},
    {ResumeJob, "POST", "/v1/jobs/{job}/resume", Lane::Quick, kKey,
     "Go on with an interrupted, failed or cancelled job", "", "Job", 202, ""},
    {JobLog, "GET", "/v1/jobs/{job}/log", Lane::Quick, kKey, "What the steps printed", "", "", 200,
     ""},
    {JobEvents, "GET", "/v1/jobs/{job}/events", Lane::Quick, kKey,
     "Server-sent events of a job: history, then live", "", "", 200, ""},
    {CreateUpload, "POST", "/v1/uploads", Lane::Long, kKey, "Keep a file for a job or a model", "",
     "Upload", 201, "name"},
    {ListUploads, "GET", "/v1/uploads", Lane::Quick, kKey, "Every uploaded file", "", "UploadList",
     200, ""},
    {DeleteUpload, "DELETE", "/v1/uploads/{upload}", Lane::Quick, kKey, "Delete an uploaded file",
     "", "", 204, ""},
    {AddFeedback, "POST", "/v1/feedback", Lane::Quick, kKey,
     "Say whether a passage answered a question", "Feedback", "FeedbackRow", 201, ""},
    {ListFeedback, "GET", "/v1/feedback", Lane::Quick, kKey, "Judgements as training rows", "",
     "FeedbackPage", 200, "collection after limit format"},
    {Live, "GET", "/health/live", Lane::Immediate, kOpen, "Whether the process answers", "",
     "Health", 200, "", kAll},
    {Ready, "GET", "/health/ready", Lane::Immediate, kOpen, "Whether work is taken", "", "Health",
     200, "", kAll},
    {Metrics, "GET", "/metrics", Lane::Quick, kKey, "Prometheus metrics", "", "", 200, "", kAll},
    {Status, "GET", "/v1/status", Lane::Quick, kKey, "What the server holds and runs", "", "Status",
     200, "verify"},
    {OpenApi, "GET", "/openapi.json", Lane::Quick, kOpen, "This description", "", "Any", 200, "",
     kAll},
});

constexpr std::string_view kGraph =
    "Seldon's transformers, routers and combiners (this is a MODEL of its graphs)";
constexpr std::array kUnbuilt = std::to_array<UnbuiltRoute>({
    {"/transform-input", kGraph},
    {"/transform-output", kGraph},
    {"/route", kGraph},
    {"/aggregate", kGraph},
});

bool is_capture(std::string_view part) {
  return part.starts_with('{');
}
bool takes_the_rest(std::string_view part) {
  return part.ends_with("...}");
}

/// Segments from `begin` on as one path; empty when one of them is.
std::string join_segments(const std::vector<std::string>& segments, size_t begin) {
  std::string path;
  for (size_t i = begin; i < segments.size(); ++i) {
    if (segments[i].empty()) {
      return {};
    }
    path += i == begin ? "" : "/";
    path += segments[i];
  }
  return path;
}

/// The captures when the decoded segments fit the pattern.
std::optional<std::vector<std::string>> fit(std::string_view pattern,
                                            const std::vector<std::string>& segments) {
  std::vector<std::string> captures;
  size_t at = 0;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the slash
    const std::string_view part = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(part.size());
    if (at == segments.size() || (!is_capture(part) && part != segments[at]) ||
        segments[at].empty()) {
      return std::nullopt;
    }
    if (takes_the_rest(part)) {
      captures.push_back(join_segments(segments, at));
      return captures.back().empty() ? std::nullopt : std::optional(std::move(captures));
    }
    if (is_capture(part)) {
      captures.push_back(segments[at]);
    }
    ++at;
  }
  if (at != segments.size()) {
    return std::nullopt;
  }
  return captures;
}

const UnbuiltRoute* find_unbuilt(std::string_view path) {
  const auto found = std::ranges::find_if(kUnbuilt, [path](const UnbuiltRoute& unbuilt) {
    return unbuilt.prefix.ends_with('/') ? path.starts_with(unbuilt.prefix)
                                         : path == unbuilt.prefix;
  });
  return found == kUnbuilt.end() ? nullptr : &*found;
}

}  // namespace

bool is_served(const Route& route, Role role) {
  switch (route.served) {
    case Served::ByOwners:
      return role != Role::Models;
    case Served::WhereModelsRun:
      return role != Role::Answers;
    case Served::Everywhere:
      return true;
  }
  return true;
}

std::span<const Route> routes() {
  return kRoutes;
}
std::span<const UnbuiltRoute> unbuilt_routes() {
  return kUnbuilt;
}

Result<Match> match_route(std::string_view method, std::string_view path) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  auto segments = split_path(path);
  if (!segments) {
    return pass_on(segments);
  }
  Match match;
  for (const Route& route : kRoutes) {
    auto captures = fit(route.pattern, *segments);
    if (!captures) {
      continue;
    }
    if (route.method == wanted) {
      match.route = &route;
      match.captures = std::move(*captures);
      match.allow.clear();
      return match;
    }
    match.allow += match.allow.empty() ? "" : ", ";
    match.allow += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  if (!match.allow.empty()) {
    match.allow += ", OPTIONS";
    return match;
  }
  match.unbuilt = find_unbuilt(path);
  return match;
}

}  // namespace sibyl::server
