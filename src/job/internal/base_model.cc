#include "job/internal/base_model.h"

#include <filesystem>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "job/internal/bases.h"
#include "job/internal/model_download.h"
#include "job/owner_client.h"
#include "model/model_directory.h"
#include "net/http_client.h"

namespace sibyl::job::internal {
namespace {

// The collection's own model, where an evaluation names none; empty without one.
Result<std::string> collection_model(const std::string& collection, const StepContext& context) {
  auto owner = OwnerClient::open(context.server, context.api_key, context.ca_file);
  if (!owner) {
    return pass_on(owner, "data.collection");
  }
  auto reply = (*owner)->call("GET", "/v1/collections/" + net::encode_uri_part(collection), {});
  if (!reply) {
    return pass_on(reply, fmt::format("data.collection '{}'", collection));
  }
  const auto settings = reply->is_object() ? reply->find("settings") : reply->end();
  if (settings == reply->end() || !settings->is_object() || !settings->contains("model") ||
      !(*settings)["model"].is_string()) {
    return std::string();
  }
  return (*settings)["model"].get<std::string>();
}

// Where the registry's model lies: on this machine, or downloaded from the owner's.
Result<void> find_in_registry(BaseModel& base, const StepContext& context) {
  auto owner = OwnerClient::open(context.server, context.api_key, context.ca_file);
  if (!owner) {
    return pass_on(owner, fmt::format("base '{}' is a model of the registry", base.name));
  }
  auto reply = (*owner)->call("GET", "/v1/models/" + net::encode_uri_part(base.name), {});
  if (!reply) {
    return pass_on(reply, fmt::format("base '{}'", base.name));
  }
  if (!(*owner)->shares_paths()) {
    auto fetched = download_model(**owner, *reply, context.stop);
    if (!fetched) {
      return pass_on(fetched, fmt::format("base '{}'", base.name));
    }
    base.fetched = std::move(*fetched);
    base.folder = base.fetched->path();
    return {};
  }
  base.folder = base::text_at(*reply, "path");
  if (base.folder.empty()) {
    return fail_field(Code::Unavailable, "base",
                      "the owner does not say where base '{}' lies; give a folder", base.name);
  }
  return {};
}

Result<BaseModel> read_kind(BaseModel base, bool trains) {
  auto model = model::read_model_directory(base.folder);
  if (!model) {
    return pass_on(model, fmt::format("base '{}'", base.name));
  }
  const bool transformer = !(*model)->modules.empty() &&
                           std::holds_alternative<model::TransformerModule>((*model)->modules[0]);
  if (!transformer && trains) {
    return fail_field(Code::FailedPrecondition, "base",
                      "base '{}' is a static model; training goes on from transformers, or from "
                      "nothing with static_custom",
                      base.name);
  }
  base.kind = transformer ? "transformer" : "static";
  return base;
}

}  // namespace

Result<BaseModel> find_base_model(const JobFile& job, const StepContext& context) {
  BaseModel base;
  base.name = job.base;
  const bool trains = job.kind != JobKind::Evaluate;
  if (base.name == kStaticCustom) {
    if (!trains) {
      return fail_field(Code::InvalidConfig, "base",
                        "base is 'static_custom'; an evaluation needs a model that is there");
    }
    base.kind = "static";
    return base;
  }
  if (!trains && !job.base_given && !job.collection.empty()) {
    auto name = collection_model(job.collection, context);
    if (!name) {
      return pass_on(name);
    }
    base.name = *name;
    if (base.name.empty()) {
      base.kind = "none";
      return base;
    }
  }
  if (is_base_folder(base.name)) {
    base.folder = base.name;
    return read_kind(std::move(base), trains);
  }
  if (auto found = find_in_registry(base, context); !found) {
    return pass_on(found);
  }
  return read_kind(std::move(base), trains);
}

Result<void> copy_model(const std::string& from, const std::string& to) {
  auto& files = base::real_file_system();
  if (files.exists(to)) {
    return {};  // whole, because it appeared by rename
  }
  const std::string beside = to + ".tmp";
  if (files.exists(beside)) {
    if (auto removed = files.remove_tree(beside); !removed) {
      return removed;
    }
  }
  std::error_code problem;
  std::filesystem::copy(from, beside, std::filesystem::copy_options::recursive, problem);
  if (problem) {
    return fail(code_from_errno(problem.value()), "cannot copy the model {} to {}: {}", from,
                beside, problem.message());
  }
  return files.rename(beside, to);
}

}  // namespace sibyl::job::internal
