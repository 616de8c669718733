#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/application.h"
#include "server/http.h"

namespace sibyl::server {

/// What an address does; the application has one handler for each.
enum class Operation {
  AddDocuments,
  ListDocuments,
  GetDocument,
  DeleteDocument,
  Query,
  ListCollections,
  GetCollection,
  PutCollection,
  DropCollection,
  CompactCollection,
  CancelOperation,
  RollbackCollection,
  ListModels,
  GetModel,
  ImportModel,
  DeleteModel,
  SetDefaultModel,
  Embeddings,
  SubmitJob,
  ListJobs,
  GetJob,
  CancelJob,
  ResumeJob,
  JobLog,
  JobEvents,
  CreateUpload,
  ListUploads,
  DeleteUpload,
  AddFeedback,
  ListFeedback,
  ModelVersion,
  ModelFile,
  InferenceServer,
  InferenceLive,
  InferenceReady,
  InferenceModel,
  InferenceModelReady,
  Infer,
  SeldonPredict,
  SeldonFeedback,
  SeldonHealth,
  SeldonPing,
  SeldonMetadata,
  Live,
  Ready,
  Metrics,
  Status,
  OpenApi
};

/// Which roles serve an address.
enum class Served {
  ByOwners,        ///< those that own a data directory
  WhereModelsRun,  ///< all and models
  Everywhere,
};

/// One row of the table that router, openapi.json and the metrics' labels are made from.
struct Route {
  Operation operation;
  std::string_view method;
  std::string_view pattern;  ///< `{name}` stands for one segment, `{name...}` for all that follow
  Lane lane;
  bool open;  ///< needs no key
  std::string_view summary;
  std::string_view request;     ///< schema name of the JSON body; empty: none or not JSON
  std::string_view reply;       ///< schema name of the JSON reply; empty: none or not JSON
  int status;                   ///< of success
  std::string_view parameters;  ///< names of query parameters, separated by spaces
  Served served = Served::ByOwners;
};

bool is_served(const Route& route, Role role);

/// Every address that is built.
std::span<const Route> routes();

/// An address of the interface that answers 501, and what it belongs to.
struct UnbuiltRoute {
  std::string_view prefix;  ///< of the path; ends in '/' when everything below is meant
  std::string_view what;
};
std::span<const UnbuiltRoute> unbuilt_routes();

/// Where a request leads. At most one of `route`, `allow`, `unbuilt` is set; none: nothing is
/// there.
struct Match {
  const Route* route = nullptr;
  std::vector<std::string> captures;  ///< decoded, in the pattern's order
  std::string allow;                  ///< methods of the address when the method is another
  const UnbuiltRoute* unbuilt = nullptr;
};

/// HEAD is matched as GET. InvalidArgument when the path cannot be decoded.
Result<Match> match_route(std::string_view method, std::string_view path);

}  // namespace sibyl::server
