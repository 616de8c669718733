#include <algorithm>
#include <map>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "server/internal/handlers.h"
#include "server/internal/model_import.h"
#include "server/internal/model_source.h"
#include "server/internal/replies.h"
#include "server/internal/served_model_json.h"

namespace sibyl::server {
namespace {

/// JSON that a model's sibyl.json gave; null when it is none.
std::string_view json_or_null(std::string_view text) {
  return text.empty() ? "null" : text;
}

void write_provenance(base::JsonWriter& json, const model::Provenance& provenance) {
  json.key("provenance").begin_object();
  json.key("name").text(provenance.name).key("version").text(provenance.version);
  json.key("base").text(provenance.base).key("created").text(provenance.created);
  json.key("trained_on").raw(json_or_null(provenance.trained_on));
  json.key("parameters").raw(json_or_null(provenance.parameters));
  json.key("metrics").raw(json_or_null(provenance.metrics));
  json.key("pipelines").begin_object();
  for (const auto& [name, blend] : provenance.pipelines) {
    json.key(name).text(blend);
  }
  json.end_object().key("integer_scheme").text(provenance.integer_scheme);
  json.key("checksums").begin_object();
  for (const auto& [path, checksum] : provenance.checksums) {
    json.key(path).text(checksum);
  }
  json.end_object().end_object();
}

/// `newest` is the highest version of the entry's name, which the bare name stands for; 0 where it
/// stands for a model that is served elsewhere.
void write_model(base::JsonWriter& json, const model::ModelEntry& entry, uint32_t newest,
                 const Call& call, bool with_provenance) {
  json.begin_object().key("id");
  json.text(entry.version == newest ? entry.name : fmt::format("{}@{}", entry.name, entry.version));
  json.key("object").text("model").key("created").integer(model_created(entry));
  json.key("owned_by").text("sibyl").key("name").text(entry.name);
  json.key("version").integer(entry.version);
  json.key("dimension").integer(static_cast<int64_t>(entry.dimension));
  json.key("kind").text(entry.kind).key("bytes").integer(static_cast<int64_t>(entry.bytes));
  json.key("default").boolean(entry.is_default);
  if (call.local()) {
    json.key("path").text(entry.path);
  }
  if (with_provenance) {
    write_provenance(json, entry.provenance);
  }
  json.end_object();
}

uint32_t newest_version(const Services& services, const std::string& name) {
  uint32_t newest = 0;
  for (const model::ModelEntry& entry : services.registry->list()) {
    newest = entry.name == name ? std::max(newest, entry.version) : newest;
  }
  return newest;
}

Response reply_with(const Services& services, const model::ModelEntry& entry, const Call& call,
                    int status, bool with_provenance) {
  std::string body;
  base::JsonWriter json(body);
  write_model(json, entry, newest_version(services, entry.name), call, with_provenance);
  return json_response(status, std::move(body));
}

/// The collections whose vectors a model (or one version of it) made.
std::vector<std::string> users_of(Services& services, const model::ModelEntry& entry,
                                  bool every_version) {
  std::vector<std::string> users;
  for (const std::string& name : services.answers->collections()) {
    const auto info = services.answers->info(name);
    if (!info || info->settings.model.empty()) {
      continue;
    }
    const std::string& used = info->settings.model;
    const std::string exact = fmt::format("{}@{}", entry.name, entry.version);
    if (used == exact || used == entry.name ||
        (every_version && used.starts_with(entry.name + "@"))) {
      users.push_back(name);
    }
  }
  return users;
}

/// The version that an address names; what could be none is not there either.
Result<model::ModelEntry> version_of(const Services& services, const Call& call) {
  auto entry = services.registry->find(fmt::format("{}@{}", call.captures[0], call.captures[1]));
  if (!entry && entry.error().code == Code::InvalidArgument) {
    entry.error().code = Code::NotFound;
  }
  return entry;
}

/// The same, and `current` is the newest version: the registry keeps no other pointer. Files have
/// no pointer in their addresses, since all of them must come from one version.
Result<model::ModelEntry> pointed_version_of(const Services& services, const Call& call) {
  const std::string& version = call.captures[1];
  const bool pointer = version == "current" || version == "candidate";
  return pointer ? services.registry->find(call.captures[0]) : version_of(services, call);
}

/// The bytes of a file, from the disk to the socket piece by piece.
Response file_reply(std::shared_ptr<const base::FileView> view) {
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  Response response;
  response.content_type = "application/octet-stream";
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.stream = [view = std::move(view)](const StreamSink& sink, std::stop_token stop) {
    std::string_view left = view->bytes();
    while (!left.empty() && !stop.stop_requested() && sink(left.substr(0, kPieceBytes))) {
      left.remove_prefix(std::min(kPieceBytes, left.size()));
    }
  };
  return response;
}

}  // namespace

Result<Response> list_models(Services& services, const Call& call) {
  if (services.served != nullptr) {
    return list_served_models(*services.served);
  }
  const std::vector<model::ModelEntry> entries = services.registry->list();
  std::map<std::string, uint32_t> newest;
  for (const model::ModelEntry& entry : entries) {
    newest[entry.name] = std::max(newest[entry.name], entry.version);
  }
  const auto served = services.encoders->served();
  for (const RemoteModels::Listed& model : served) {
    newest[model.name] = 0;
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("object").text("list").key("data").begin_array();
  for (const model::ModelEntry& entry : entries) {
    write_model(json, entry, newest[entry.name], call, false);
  }
  for (const RemoteModels::Listed& model : served) {
    write_remote_model(json, model, services.encoders->default_name(), call.local());
  }
  json.end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> get_model(Services& services, const Call& call) {
  if (services.served != nullptr) {
    return get_served_model(*services.served, call.captures[0]);
  }
  const auto entry = services.registry->find(call.captures[0]);
  if (!entry) {
    for (const RemoteModels::Listed& model : services.encoders->served()) {
      if (model.name == call.captures[0]) {
        std::string body;
        base::JsonWriter json(body);
        write_remote_model(json, model, services.encoders->default_name(), call.local());
        return json_response(200, std::move(body));
      }
    }
    return tl::unexpected<Error>(entry.error());
  }
  return reply_with(services, *entry, call, 200, true);
}

Result<Response> get_model_version(Services& services, const Call& call) {
  const auto entry = pointed_version_of(services, call);
  if (!entry) {
    return tl::unexpected<Error>(entry.error());
  }
  return reply_with(services, *entry, call, 200, true);
}

Result<Response> get_model_file(Services& services, const Call& call) {
  const auto entry = version_of(services, call);
  if (!entry) {
    return tl::unexpected<Error>(entry.error());
  }
  const std::string& file = call.captures[2];
  if (file != "sibyl.json" && !entry->provenance.checksums.contains(file)) {
    return fail_field(Code::NotFound, "file", "model '{}@{}' has no file '{}'", entry->name,
                      entry->version, file);
  }
  auto view = base::real_file_system().map(base::join_path(entry->path, file));
  if (!view) {
    return pass_on(view);
  }
  return file_reply(std::move(*view));
}

Result<Response> import_model(Services& services, const Call& call) {
  const auto import = parse_model_import(call.request.body, call.local());
  if (!import) {
    return tl::unexpected<Error>(import.error());
  }
  Result<model::ModelEntry> entry = fail(Code::Internal, "nothing was imported");
  if (!import->directory.empty()) {
    entry = services.registry->import(import->directory, import->name);
  } else if (!import->address.empty()) {
    ModelSourceOptions source = services.options.model_source;
    if (!call.local()) {
      source.api_key.clear();  // a peer over the network must not choose where our key is sent
    }
    auto fetched = fetch_model(import->address, source, call.stop);
    if (!fetched) {
      return pass_on(fetched, import->address);
    }
    entry = services.registry->import(fetched->path, import->name);
  } else {
    const base::TemporaryDirectory folder;
    if (auto built = assemble_model(*import, *services.uploads, folder.path()); !built) {
      return pass_on(built);
    }
    entry = services.registry->import(folder.path(), import->name);
  }
  if (!entry) {
    return pass_on(entry);
  }
  base::log_info("server", "model {}@{} was imported", entry->name, entry->version);
  return reply_with(services, *entry, call, 201, true);
}

Result<Response> delete_model(Services& services, const Call& call) {
  const std::string& reference = call.captures[0];
  const auto entry = services.registry->find(reference);
  if (!entry) {
    return tl::unexpected<Error>(entry.error());
  }
  const bool every_version = reference.find('@') == std::string::npos;
  const std::vector<std::string> users = users_of(services, *entry, every_version);
  if (!users.empty()) {
    return fail(Code::FailedPrecondition,
                "model '{}' made the vectors of collection '{}'; give that another model first "
                "(sibyl models use)",
                reference, fmt::join(users, "', '"));
  }
  std::vector<std::string> paths;
  for (const model::ModelEntry& other : services.registry->list()) {
    if (other.name == entry->name && (every_version || other.version == entry->version)) {
      paths.push_back(other.path);
    }
  }
  if (auto removed = services.registry->remove(reference); !removed) {
    return pass_on(removed);
  }
  for (const std::string& path : paths) {
    services.encoders->forget(path);
  }
  return empty_response(204);
}

Result<Response> set_default_model(Services& services, const Call& call) {
  if (auto set = services.registry->set_default(call.captures[0]); !set) {
    return pass_on(set);
  }
  const auto entry = services.registry->find("");
  if (!entry) {
    return tl::unexpected<Error>(entry.error());
  }
  return reply_with(services, *entry, call, 200, false);
}

}  // namespace sibyl::server
