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
     "ModelList", 200, ""},
    {ImportModel, "POST", "/v1/models", Lane::Long, kKey,
     "Import a model directory as the next version of a name", "ModelImport", "Model", 201, ""},
    {GetModel, "GET", "/v1/models/{model}", Lane::Quick, kKey, "A model with its provenance", "",
     "Model", 200, ""},
    {DeleteModel, "DELETE", "/v1/models/{model}", Lane::Long, kKey, "Delete a model", "", "", 204,
     ""},
    {SetDefaultModel, "PUT", "/v1/models/{model}/default", Lane::Quick, kKey,
     "Make a model the default", "", "Model", 200, ""},
    {Embeddings, "POST", "/v1/embeddings", Lane::Quick, kKey, "Texts to vectors, in OpenAI's form",
     "EmbeddingRequest", "EmbeddingReply", 200, ""},
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
     "Health", 200, ""},
    {Ready, "GET", "/health/ready", Lane::Immediate, kOpen, "Whether work is taken", "", "Health",
     200, ""},
    {Metrics, "GET", "/metrics", Lane::Quick, kKey, "Prometheus metrics", "", "", 200, ""},
    {Status, "GET", "/v1/status", Lane::Quick, kKey, "What the server holds and runs", "", "Status",
     200, "verify"},
    {OpenApi, "GET", "/openapi.json", Lane::Quick, kOpen, "This description", "", "Any", 200, ""},
});

constexpr std::string_view kOpenInference = "the Open Inference Protocol v2";
constexpr std::string_view kSeldon = "Seldon Core's protocol";
constexpr std::array kUnbuilt = std::to_array<UnbuiltRoute>({
    {"/v2", kOpenInference},
    {"/v2/", kOpenInference},
    {"/predict", kSeldon},
    {"/send-feedback", kSeldon},
    {"/transform-input", kSeldon},
    {"/transform-output", kSeldon},
    {"/route", kSeldon},
    {"/aggregate", kSeldon},
    {"/metadata", kSeldon},
    {"/seldon.json", kSeldon},
    {"/api/v0.1/", kSeldon},
    {"/api/v1.0/", kSeldon},
    {"/health/status", kSeldon},
    {"/health/ping", kSeldon},
});

bool is_capture(std::string_view part) {
  return part.starts_with('{');
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
