#include <algorithm>
#include <cctype>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "cli/internal/commands.h"
#include "cli/internal/owner.h"
#include "cli/internal/switching.h"

namespace sibyl::cli {
namespace {

using base::Json;

bool is_version(const std::string& part) {
  return part == "current" || part == "candidate" ||
         part.find_first_not_of("0123456789") == std::string::npos;
}

// A name for a model that was given none: that of its folder, in the letters that names may have.
// Published models lie at .../NAME/VERSION.
std::string name_of_folder(const std::string& folder) {
  std::filesystem::path path(folder);
  while (path.has_relative_path() &&
         (path.filename().empty() ||
          (folder.find("://") != std::string::npos && is_version(path.filename().string())))) {
    path = path.parent_path();
  }
  std::string name = path.filename().string();
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    c = static_cast<char>(std::tolower(byte));
    if (byte >= 0x80 || !(std::isalnum(byte) != 0 || c == '.' || c == '_' || c == '-')) {
      c = '-';
    }
  }
  name.erase(0, std::min(name.find_first_not_of("._-"), name.size()));
  return name.substr(0, 64);
}

std::string note_of(const Json& model) {
  if (!base::flag_at(model, "served")) {
    return base::flag_at(model, "default") ? "default" : "";
  }
  return fmt::format("{}at {}{}", base::flag_at(model, "default") ? "default, " : "",
                     base::text_at(model, "address"),
                     base::flag_at(model, "answers") ? "" : ", does not answer");
}

std::string model_line(const Json& model) {
  return fmt::format("{}@{} ({}, {} dimensions)", base::shown_at(model, "name"),
                     base::shown_at(model, "version"), base::shown_at(model, "kind"),
                     base::shown_at(model, "dimension"));
}

Result<int> call_and_say(const Arguments& arguments, const Terminal& terminal,
                         const std::string& method, const std::string& target,
                         const std::string& said) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->call(method, target);
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(reply->is_null() ? Json::object() : *reply);
  } else {
    terminal.note(said);
  }
  return 0;
}

}  // namespace

Result<int> list_models(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->call("GET", "/v1/models");
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(*reply);
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "VERSION", "KIND", "DIMENSION", "MB", ""}};
  for (const Json& model : base::value_at(*reply, "data")) {
    rows.push_back({base::shown_at(model, "name"), base::shown_at(model, "version"),
                    base::shown_at(model, "kind"), base::shown_at(model, "dimension"),
                    base::flag_at(model, "served")
                        ? std::string()
                        : fmt::format("{:.1f}", base::number_at(model, "bytes") / 1e6),
                    note_of(model)});
  }
  if (rows.size() == 1) {
    terminal.note("no model is there; `sibyl models import DIR --name NAME` adds one");
  } else {
    terminal.print(terminal.table(rows));
  }
  return 0;
}

Result<int> show_model(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->call("GET", model_path(arguments.name));
  if (!reply) {
    return pass_on(reply);
  }
  terminal.print(base::dump_json(*reply, terminal.json() ? -1 : 2));
  return 0;
}

Result<int> import_model(const Arguments& arguments, const Terminal& terminal) {
  std::string uri = arguments.target;
  if (uri.find("://") == std::string::npos) {
    if (!base::real_file_system().exists(uri)) {
      return fail(Code::NotFound, "{} is not there; give the folder of a model", uri);
    }
    uri = std::filesystem::absolute(uri).lexically_normal().string();
  }
  const std::string name =
      arguments.name.empty() ? name_of_folder(arguments.target) : arguments.name;
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply =
      (*owner)->call("POST", "/v1/models", base::dump_json({{"name", name}, {"uri", uri}}));
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(*reply);
  } else {
    terminal.print(fmt::format("imported {}{}", model_line(*reply),
                               base::flag_at(*reply, "default") ? ", the default" : ""));
  }
  return 0;
}

Result<int> export_model(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->call("GET", model_path(arguments.name));
  if (!reply) {
    return pass_on(reply);
  }
  if (base::flag_at(*reply, "served")) {
    return fail(Code::FailedPrecondition, "model '{}' is served elsewhere, and no copy is here",
                arguments.name);
  }
  const std::string from = base::shown_at(*reply, "path");
  if (base::real_file_system().exists(arguments.target)) {
    return fail(Code::AlreadyExists, "{} is there already; export to a new folder",
                arguments.target);
  }
  const std::string beside = arguments.target + ".tmp";
  std::error_code problem;
  std::filesystem::copy(from, beside, std::filesystem::copy_options::recursive, problem);
  if (!problem) {
    std::filesystem::rename(beside, arguments.target, problem);
  }
  if (problem) {
    return fail(code_from_errno(problem.value()), "cannot copy {} to {}: {}", from,
                arguments.target, problem.message());
  }
  if (terminal.json()) {
    terminal.print_json({{"model", arguments.name}, {"directory", arguments.target}});
  } else {
    terminal.note(fmt::format("exported {} to {}", model_line(*reply), arguments.target));
  }
  return 0;
}

Result<int> set_default_model(const Arguments& arguments, const Terminal& terminal) {
  return call_and_say(arguments, terminal, "PUT", model_path(arguments.name) + "/default",
                      arguments.name + " is the default now");
}

Result<int> delete_model(const Arguments& arguments, const Terminal& terminal) {
  return call_and_say(arguments, terminal, "DELETE", model_path(arguments.name),
                      "deleted " + arguments.name);
}

Result<int> use_model(const Arguments& arguments, const Terminal& terminal) {
  return switch_model(arguments, terminal, "PUT", collection_path(arguments.collection),
                      base::dump_json({{"model", arguments.model}}));
}

Result<int> rollback_model(const Arguments& arguments, const Terminal& terminal) {
  return switch_model(arguments, terminal, "POST",
                      collection_path(arguments.collection) + "/rollback", {});
}

}  // namespace sibyl::cli
