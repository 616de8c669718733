#include "cli/internal/switching.h"

#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "cli/internal/owner.h"

namespace sibyl::cli {
namespace {

using base::Json;

std::string model_of(const Json& collection) {
  return base::text_at(base::value_at(collection, "settings"), "model");
}

}  // namespace

Result<int> switch_model(const Arguments& arguments, const Terminal& terminal,
                         const std::string& method, const std::string& target,
                         const std::string& body) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  const std::string collection = collection_path(arguments.collection);
  // A switch never creates a collection by a misspelt name.
  if (auto there = (*owner)->call("GET", collection); !there) {
    return pass_on(there);
  }
  auto state = (*owner)->call(method, target, body);
  if (!state) {
    return pass_on(state);
  }
  if (!(*owner)->in_process() && !arguments.wait) {
    if (terminal.json()) {
      terminal.print_json(*state);
    } else {
      terminal.note(
          fmt::format("the server re-encodes {} in the background; it answers with {} "
                      "until that is done",
                      arguments.collection, model_of(*state)));
    }
    return 0;
  }
  ProgressBar bar(terminal, "re-encoding " + arguments.collection, "%");
  const std::stop_token stop = base::process_stop_token();
  while (base::value_at(*state, "switching").is_object()) {
    const double share = base::number_at(base::value_at(*state, "switching"), "share");
    bar.update(static_cast<uint64_t>(share * 100), 100);
    if (base::sleep_until_stop(stop, 0.1)) {
      return fail(Code::Interrupted, "stopped; {} answers with {} as before", arguments.collection,
                  model_of(*state));
    }
    state = (*owner)->call("GET", collection);
    if (!state) {
      return pass_on(state);
    }
  }
  bar.finish();
  const std::string now = model_of(*state);
  if (method == "PUT") {
    const std::string& wanted = arguments.model;
    if (now != wanted && now.substr(0, now.find('@')) != wanted) {
      return fail(Code::FailedPrecondition, "{} could not be switched to {}; it answers with {}",
                  arguments.collection, wanted, now.empty() ? "no model" : now);
    }
  }
  if (terminal.json()) {
    terminal.print_json(*state);
  } else {
    terminal.note(fmt::format("{} answers with {}", arguments.collection, now));
  }
  return 0;
}

}  // namespace sibyl::cli
