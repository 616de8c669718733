#include <algorithm>
#include <optional>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "job/internal/kubernetes_client.h"
#include "job/internal/model_store.h"
#include "job/internal/steps.h"
#include "net/http_client.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

constexpr const char* kAnnotation = "sibyl.dev/model-version";

/// A kind of object that serves a model, and where its pods' annotations lie.
struct ServingKind {
  std::string_view name;
  std::string_view api_version;
  std::string_view kind;
  std::string_view plural;
  std::vector<std::string_view> annotations;
};

const std::vector<ServingKind>& serving_kinds() {
  static const std::vector<ServingKind> kinds = {{"seldon",
                                                  "machinelearning.seldon.io/v1",
                                                  "SeldonDeployment",
                                                  "seldondeployments",
                                                  {"spec", "annotations"}},
                                                 {"kserve",
                                                  "serving.kserve.io/v1beta1",
                                                  "InferenceService",
                                                  "inferenceservices",
                                                  {"spec", "predictor", "annotations"}},
                                                 {"deployment",
                                                  "apps/v1",
                                                  "Deployment",
                                                  "deployments",
                                                  {"spec", "template", "metadata", "annotations"}}};
  return kinds;
}

struct ModelVersion {
  std::string name;
  std::string version;
};

// "helpdesk@3".
Result<ModelVersion> parse_reference(const std::string& reference) {
  const size_t at = reference.find('@');
  const auto plain = [](std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    }) && text.front() != '.';
  };
  if (at == std::string::npos || !plain(reference.substr(0, at)) ||
      !plain(reference.substr(at + 1))) {
    return fail_field(Code::InvalidConfig, "SIBYL_DEPLOY_MODEL",
                      "'{}' must be NAME@VERSION, as helpdesk@3", reference);
  }
  return ModelVersion{reference.substr(0, at), reference.substr(at + 1)};
}

// What publish wrote: the version is the store's where there is one.
Result<ModelVersion> published(const Workspace& workspace) {
  if (!workspace.done("publish")) {
    return fail(Code::FailedPrecondition, "{}: the step publish has not run", workspace.path());
  }
  const std::string path = workspace.file("report/publish.json");
  const auto text = base::read_file(path, 1 << 20);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto json = base::parse_json(*text, path);
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  auto model = parse_reference(base::text_at(*json, "model"));
  if (!model) {
    return fail(Code::InvalidData, "{}: {}", path, model.error().message);
  }
  if (const std::string version = base::text_at(*json, "version"); !version.empty()) {
    model->version = version;
  }
  return model;
}

Result<std::string> object_of(const DeployTarget& target, const std::string& model) {
  const auto targets = base::parse_json(target.targets, "SIBYL_DEPLOY_TARGETS");
  if (!targets || !targets->is_object()) {
    return fail_field(Code::InvalidConfig, "SIBYL_DEPLOY_TARGETS",
                      "'{}' must be a JSON object, model name -> name of the object",
                      target.targets.substr(0, 200));
  }
  std::string object = base::text_at(*targets, model);
  if (object.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : targets->items()) {
      names.push_back(name);
    }
    return fail_field(Code::NotFound, "SIBYL_DEPLOY_TARGETS",
                      "nothing serves a model '{}'; those of serving.models are: {}", model,
                      fmt::join(names, ", "));
  }
  return object;
}

Result<void> annotate(const StepContext& context, const ServingKind& kind,
                      const std::string& object, const std::string& version) {
  auto client = KubernetesClient::open(context.deploy, context.stop);
  if (!client) {
    return pass_on(client);
  }
  const bool core_like = kind.api_version.find('/') == std::string_view::npos;
  const std::string path = fmt::format(
      "/{}/{}/namespaces/{}/{}/{}", core_like ? "api" : "apis", kind.api_version,
      net::encode_uri_part(context.deploy.name_space), kind.plural, net::encode_uri_part(object));
  // An apply would create what is not there.
  if (auto there = (*client)->get(path); !there) {
    return pass_on(there);
  }
  Json patch = {{"apiVersion", kind.api_version},
                {"kind", kind.kind},
                {"metadata", {{"name", object}, {"namespace", context.deploy.name_space}}}};
  Json* place = &patch;
  for (const std::string_view part : kind.annotations) {
    place = &(*place)[std::string(part)];
  }
  (*place)[kAnnotation] = version;
  const auto applied = (*client)->apply(path, patch);
  return applied ? Result<void>() : tl::unexpected<Error>(applied.error());
}

class DeployStep final : public Step {
 public:
  std::string_view name() const override { return "deploy"; }

  Result<void> run(Workspace& workspace, const StepContext& context) override {
    const DeployTarget& target = context.deploy;
    const auto kind = std::ranges::find(serving_kinds(), target.kind, &ServingKind::name);
    if (kind == serving_kinds().end()) {
      return fail_field(Code::InvalidConfig, "SIBYL_DEPLOY_KIND",
                        "SIBYL_DEPLOY_KIND is '{}'; it must be seldon, kserve or deployment",
                        target.kind);
    }
    const std::string pointer = target.pointer.empty() ? "current" : target.pointer;
    if (pointer != "current" && pointer != "candidate") {
      return fail_field(Code::InvalidConfig, "SIBYL_DEPLOY_POINTER",
                        "SIBYL_DEPLOY_POINTER is '{}'; it must be current or candidate", pointer);
    }
    if (target.name_space.empty()) {
      return fail_field(Code::InvalidConfig, "SIBYL_DEPLOY_NAMESPACE",
                        "SIBYL_DEPLOY_NAMESPACE is not set");
    }
    const auto model = target.model.empty() ? published(workspace) : parse_reference(target.model);
    if (!model) {
      return tl::unexpected<Error>(model.error());
    }
    const auto object = object_of(target, model->name);
    if (!object) {
      return tl::unexpected<Error>(object.error());
    }
    if (auto pointed = point(context, *model, pointer); !pointed) {
      return pointed;
    }
    if (auto done = annotate(context, *kind, *object, model->version); !done) {
      return done;
    }
    return workspace.append_event(
        name(), {{"event", "note"},
                 {"text", fmt::format("{} {} is told of {}@{} ({})", kind->kind, *object,
                                      model->name, model->version, pointer)}});
  }

 private:
  static Result<void> point(const StepContext& context, const ModelVersion& model,
                            const std::string& pointer) {
    if (!context.store.empty()) {
      auto store = ModelStore::open(context.store, context.stop);
      return store ? store->point(model.name, pointer, model.version) : pass_on(store);
    }
    // Without a store the pods read the newest version of the answer server's registry: what was
    // just published, and nothing older.
    if (!context.deploy.model.empty()) {
      return fail(Code::FailedPrecondition,
                  "pointing at {}@{} needs an object store (store.uri): without one the pods read "
                  "the newest version of the answer server; delete newer versions there instead",
                  model.name, model.version);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Step> make_deploy_step() {
  return std::make_unique<DeployStep>();
}

}  // namespace sibyl::job::internal
