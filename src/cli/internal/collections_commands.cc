#include <atomic>
#include <charconv>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
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

constexpr double kBetweenLooks_s = 0.1;

/// Posts a compaction and draws how far it is; a signal stops it, and its own reply says so. A
/// second connection asks meanwhile, as the first one waits.
Result<Json> compact_with_progress(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  std::unique_ptr<Owner> second;
  if (!(*owner)->in_process()) {
    auto opened = Owner::open(arguments.data, false);
    if (!opened) {
      return pass_on(opened);
    }
    second = std::move(*opened);
  }
  // In process the interface itself may be called by several threads.
  Owner& watcher = second ? *second : **owner;
  const std::string target = collection_path(arguments.collection);
  Result<Json> reply;
  std::atomic<bool> done = false;
  std::jthread post([&] {
    reply = (*owner)->call("POST", target + "/compact");
    done = true;
  });
  ProgressBar bar(terminal, "compacting " + arguments.collection, "documents");
  const std::stop_token stop = base::process_stop_token();
  bool asked_to_stop = false;
  while (!done) {
    if (stop.stop_requested() && !asked_to_stop) {
      asked_to_stop = watcher.call("DELETE", target + "/operation").has_value();
    }
    if (const auto state = watcher.call("GET", target)) {
      const Json& operation = base::value_at(*state, "operation");
      if (base::text_at(operation, "name") == "compact") {
        bar.update(static_cast<uint64_t>(base::number_at(operation, "done")),
                   static_cast<uint64_t>(base::number_at(operation, "total")));
      }
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kBetweenLooks_s));
  }
  post.join();
  bar.finish();
  return reply;
}

std::string megabytes(const Json& collection, const char* field) {
  return fmt::format("{:.1f} MB", base::number_at(collection, field) / 1e6);
}

std::string describe_operation(const Json& operation) {
  if (!operation.is_object()) {
    return "none";
  }
  const double total = base::number_at(operation, "total");
  const double share = total == 0 ? 0 : base::number_at(operation, "done") / total;
  return fmt::format("{}{} ({:.0f} %)", base::text_at(operation, "name"),
                     base::shown_at(operation, "background") == "true" ? " in the background" : "",
                     share * 100);
}

/// What people read of a collection: settings, then sizes, then one line a vector field.
std::string describe_collection(const Json& collection, const Terminal& terminal) {
  const Json& settings = base::value_at(collection, "settings");
  const std::string model = base::shown_at(settings, "model");
  std::string text =
      fmt::format("{}\nmodel: {}\nlanguage: {}\npipeline: {}\n",
                  terminal.bold(base::shown_at(collection, "name")),
                  model.empty() ? "none (BM25 alone)" : model, base::shown_at(settings, "language"),
                  base::shown_at(settings, "pipeline"));
  text +=
      fmt::format("documents: {} ({} deleted ones still take room)\n",
                  base::shown_at(collection, "rows"), base::shown_at(collection, "deleted_rows"));
  text +=
      fmt::format("segments: {}, and {} documents in {} logs of {}\n",
                  base::shown_at(collection, "segments"), base::shown_at(collection, "tail_rows"),
                  base::shown_at(collection, "logs"), megabytes(collection, "log_bytes"));
  text += fmt::format("on the disk: {}\nhealth: {}\noperation: {}\n",
                      megabytes(collection, "disk_bytes"), base::text_at(collection, "health"),
                      describe_operation(base::value_at(collection, "operation")));
  std::vector<std::vector<std::string>> rows = {{"FIELD", "DIMENSION", "VECTORS", "INDEX",
                                                 "INDEXED", "RESIDENT B/VECTOR",
                                                 "MAPPED B/VECTOR"}};
  for (const Json& field : base::value_at(collection, "vectors")) {
    rows.push_back({base::shown_at(field, "field"), base::shown_at(field, "dimension"),
                    base::shown_at(field, "vectors"), base::shown_at(field, "index"),
                    base::shown_at(field, "indexed_vectors"),
                    fmt::format("{:.0f}", base::number_at(field, "resident_bytes_per_vector")),
                    fmt::format("{:.0f}", base::number_at(field, "mapped_bytes_per_vector"))});
  }
  return rows.size() == 1 ? text : text + terminal.table(rows);
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
  if (terminal.json()) {
    terminal.print_json(*reply);
  } else {
    terminal.print(describe_collection(*reply, terminal));
  }
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
  auto reply = compact_with_progress(arguments, terminal);
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

Result<int> cancel_operation(const Arguments& arguments, const Terminal& terminal) {
  auto reply = call(arguments, "DELETE", collection_path(arguments.collection) + "/operation");
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json({{"cancelled", arguments.collection}});
  } else {
    terminal.note("stopping; " + arguments.collection + " stays as it was");
  }
  return 0;
}

}  // namespace sibyl::cli
