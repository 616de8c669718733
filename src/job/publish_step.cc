#include <filesystem>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
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
    auto owner = OwnerClient::open(context.server, context.api_key);
    if (!owner) {
      return pass_on(owner);
    }
    auto reference = import(workspace, context, **owner, base::text_at(*job, "name"));
    if (!reference) {
      return pass_on(reference);
    }
    if (auto done = base::replace_file(workspace.file("report/publish.json"),
                                       base::dump_json({{"model", *reference}}) + "\n");
        !done) {
      return done;
    }
    if (auto done = workspace.append_event(name(), {{"event", "published"}, {"model", *reference}});
        !done) {
      return done;
    }
    const auto deploy = job->find("deploy");
    const std::string collection = deploy == job->end() ? "" : base::text_at(*deploy, "collection");
    return collection.empty()
               ? Result<void>()
               : switch_collection(workspace, context, **owner, collection, *reference);
  }

 private:
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
