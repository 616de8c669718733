#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "job/internal/model_store.h"
#include "job/internal/model_upload.h"
#include "job/internal/progress.h"
#include "job/internal/steps.h"
#include "job/owner_client.h"
#include "model/provenance.h"
#include "net/http_client.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

// "name@version" of a model of the owner's registry.
std::string reference_of(const Json& model, const std::string& name) {
  const auto version = model.is_object() ? model.find("version") : model.end();
  if (version == model.end()) {
    return name;
  }
  return fmt::format(
      "{}@{}", name,
      version->is_string() ? version->get<std::string>() : base::dump_json(*version));
}

// The newest version when it is this very model: a publish that was interrupted behind the import.
std::string already_there(OwnerClient& owner, const std::string& name,
                          const model::Provenance& ours) {
  const auto model = owner.call("GET", "/v1/models/" + net::encode_uri_part(name), {});
  if (!model) {
    return {};
  }
  const Json& theirs = base::value_at(*model, "provenance");
  const bool same = base::value_at(theirs, "checksums") == Json(ours.checksums) &&
                    base::text_at(theirs, "created") == ours.created;
  return same ? reference_of(*model, name) : std::string();
}

class PublishStep final : public Step {
 public:
  std::string_view name() const override { return "publish"; }

  Result<void> run(Workspace& workspace, const StepContext& context) override {
    if (!workspace.done("train")) {
      return fail(Code::FailedPrecondition, "{}: the step train has not run", workspace.path());
    }
    const auto job = workspace.job();
    if (!job) {
      return tl::unexpected<Error>(job.error());
    }
    const auto deploy = job->find("deploy");
    const std::string collection = deploy == job->end() ? "" : base::text_at(*deploy, "collection");
    std::unique_ptr<OwnerClient> owner;
    if (!context.server.empty() || context.store.empty() || !collection.empty()) {
      auto opened = OwnerClient::open(context.server, context.api_key, context.ca_file);
      if (!opened) {
        return pass_on(opened);
      }
      owner = std::move(*opened);
    }
    auto published = publish(workspace, context, owner.get(), base::text_at(*job, "name"));
    if (!published) {
      return pass_on(published);
    }
    if (auto done = base::replace_file(workspace.file("report/publish.json"),
                                       base::dump_json(*published) + "\n");
        !done) {
      return done;
    }
    const std::string reference = base::text_at(*published, "model");
    if (auto done = workspace.append_event(name(), {{"event", "published"}, {"model", reference}});
        !done) {
      return done;
    }
    return collection.empty()
               ? Result<void>()
               : switch_collection(workspace, context, *owner, collection, reference);
  }

 private:
  // To the owner's registry, to the object store, or to both under one version.
  Result<Json> publish(Workspace& workspace, const StepContext& context, OwnerClient* owner,
                       const std::string& model_name) {
    Json published = Json::object();
    std::string version;
    if (owner != nullptr) {
      auto reference = import(workspace, context, *owner, model_name);
      if (!reference) {
        return pass_on(reference);
      }
      version = reference->substr(std::min(reference->find('@') + 1, reference->size()));
      published["model"] = *reference;
      published["version"] = version;
    }
    if (context.store.empty()) {
      return published;
    }
    const std::string folder = workspace.file("model");
    const auto provenance = model::read_provenance(folder);
    if (!provenance) {
      return tl::unexpected<Error>(provenance.error());
    }
    auto store = ModelStore::open(context.store, context.stop);
    if (!store) {
      return pass_on(store);
    }
    auto stored = store->publish(model_name, folder, *provenance, version);
    if (!stored) {
      return pass_on(stored);
    }
    if (!version.empty() && *stored != version) {
      auto told = workspace.append_event(
          name(), {{"event", "note"},
                   {"text", fmt::format("the store has another {}@{}; there this model is @{}",
                                        model_name, version, *stored)}});
      if (!told) {
        return pass_on(told);
      }
    }
    if (version.empty()) {
      published["model"] = fmt::format("{}@{}", model_name, *stored);
    }
    published["version"] = *stored;
    published["uri"] = store->uri_of(model_name, *stored);
    return published;
  }

  static Result<std::string> import(const Workspace& workspace, const StepContext& context,
                                    OwnerClient& owner, const std::string& model_name) {
    // The owner may run in another folder.
    const std::string folder =
        std::filesystem::absolute(workspace.file("model")).lexically_normal().string();
    const auto provenance = model::read_provenance(folder);
    if (!provenance) {
      return tl::unexpected<Error>(provenance.error());
    }
    std::string reference = already_there(owner, model_name, *provenance);
    if (!reference.empty()) {
      return reference;
    }
    auto reply = import_model(owner, model_name, folder, *provenance, context.stop);
    if (!reply) {
      return pass_on(reply, "publishing the model");
    }
    return reference_of(*reply, model_name);
  }

  // Re-encoding takes long and goes on in the owner; the step waits so that its end is the job's.
  Result<void> switch_collection(Workspace& workspace, const StepContext& context,
                                 OwnerClient& owner, const std::string& collection,
                                 const std::string& reference) {
    const std::string address = "/v1/collections/" + net::encode_uri_part(collection);
    auto put = owner.call("PUT", address, base::dump_json({{"model", reference}}));
    if (!put) {
      return pass_on(put, fmt::format("deploy.collection '{}'", collection));
    }
    ProgressEvents progress(workspace, name(), "switch " + collection, "percent");
    for (;;) {
      auto state = owner.call("GET", address, {});
      if (!state) {
        return pass_on(state, fmt::format("deploy.collection '{}'", collection));
      }
      const auto switching = state->is_object() ? state->find("switching") : state->end();
      if (switching == state->end() || !switching->is_object()) {
        return check_switched(workspace, *state, collection, reference);
      }
      progress.report(static_cast<uint64_t>(100 * base::number_at(*switching, "share")), 100);
      if (base::sleep_until_stop(context.stop, 0.3)) {
        return fail(Code::Interrupted, "stopped while collection {} was switched to {}", collection,
                    reference);
      }
    }
  }

  Result<void> check_switched(Workspace& workspace, const Json& state,
                              const std::string& collection, const std::string& reference) {
    const auto settings = state.find("settings");
    const std::string model = settings == state.end() ? "" : base::text_at(*settings, "model");
    if (model != reference) {
      return fail(Code::FailedPrecondition,
                  "collection {} did not switch to {}: it uses '{}'; the server's log says why",
                  collection, reference, model);
    }
    return workspace.append_event(
        name(),
        {{"event", "note"}, {"text", fmt::format("{} answers with {}", collection, reference)}});
  }
};

}  // namespace

std::unique_ptr<Step> make_publish_step() {
  return std::make_unique<PublishStep>();
}

}  // namespace sibyl::job::internal
