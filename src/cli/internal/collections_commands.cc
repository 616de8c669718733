#include <charconv>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "cli/internal/commands.h"
#include "cli/internal/owner.h"

namespace sibyl::cli {
namespace {

using base::Json;

Result<Json> call(const Arguments& arguments, const std::string& method, const std::string& target,
                  const std::string& body = {}) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  return (*owner)->call(method, target, body);
}

// "off" or "200:40".
Result<Json> chunking_setting(const std::string& text) {
  if (text == "off") {
    return Json("off");
  }
  int64_t tokens = 0;
  int64_t overlap = 0;
  const char* const end = text.data() + text.size();
  auto [at, problem] = std::from_chars(text.data(), end, tokens);
  if (problem == std::errc() && at < end && *at == ':') {
    const auto second = std::from_chars(at + 1, end, overlap);
    if (second.ec == std::errc() && second.ptr == end) {
      return Json{{"tokens", tokens}, {"overlap", overlap}};
    }
  }
  return fail_field(Code::InvalidArgument, "chunking",
                    "--chunking is '{}'; must be off or TOKENS:OVERLAP, as 200:40", text);
}

}  // namespace

Result<int> list_collections(const Arguments& arguments, const Terminal& terminal) {
  auto reply = call(arguments, "GET", "/v1/collections");
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(*reply);
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "DOCUMENTS", "MODEL", "PIPELINE", "MB"}};
  for (const Json& collection : base::value_at(*reply, "collections")) {
    const Json& settings = base::value_at(collection, "settings");
    const std::string model = base::shown_at(settings, "model");
    rows.push_back({base::shown_at(collection, "name"), base::shown_at(collection, "rows"),
                    model.empty() ? "none (BM25 alone)" : model,
                    base::shown_at(settings, "pipeline"),
                    fmt::format("{:.1f}", base::number_at(collection, "disk_bytes") / 1e6)});
  }
  if (rows.size() == 1) {
    terminal.note("no collection is there; `sibyl add COLLECTION PATH` makes one");
  } else {
    terminal.print(terminal.table(rows));
  }
  return 0;
}

Result<int> show_collection(const Arguments& arguments, const Terminal& terminal) {
  auto reply = call(arguments, "GET", collection_path(arguments.collection));
  if (!reply) {
    return pass_on(reply);
  }
  terminal.print(base::dump_json(*reply, terminal.json() ? -1 : 2));
  return 0;
}

Result<int> create_collection(const Arguments& arguments, const Terminal& terminal) {
  Json settings = Json::object();
  for (const auto& [key, value] :
       {std::pair("model", &arguments.model), std::pair("language", &arguments.language),
        std::pair("pipeline", &arguments.pipeline)}) {
    if (!value->empty()) {
      settings[key] = *value;
    }
  }
  if (!arguments.chunking.empty()) {
    auto chunking = chunking_setting(arguments.chunking);
    if (!chunking) {
      return pass_on(chunking);
    }
    settings["chunking"] = std::move(*chunking);
  }
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  const std::string target = collection_path(arguments.collection);
  if (auto there = (*owner)->call("GET", target); there) {
    return fail(Code::AlreadyExists, "collection {} is there already", arguments.collection);
  }
  auto reply = (*owner)->call("PUT", target, base::dump_json(settings));
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(*reply);
  } else {
    const std::string model = base::shown_at(base::value_at(*reply, "settings"), "model");
    terminal.note(fmt::format("created {} ({})", arguments.collection,
                              model.empty() ? "no model: BM25 alone" : model));
  }
  return 0;
}

Result<int> drop_collection(const Arguments& arguments, const Terminal& terminal) {
  auto reply = call(arguments, "DELETE", collection_path(arguments.collection));
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json({{"dropped", arguments.collection}});
  } else {
    terminal.note("dropped " + arguments.collection);
  }
  return 0;
}

Result<int> compact_collection(const Arguments& arguments, const Terminal& terminal) {
  auto reply = call(arguments, "POST", collection_path(arguments.collection) + "/compact");
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(*reply);
  } else {
    terminal.note(fmt::format("{}: {} documents in {} segments", arguments.collection,
                              base::shown_at(*reply, "rows"), base::shown_at(*reply, "segments")));
  }
  return 0;
}

}  // namespace sibyl::cli
