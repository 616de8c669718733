#include <functional>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "cli/internal/commands.h"
#include "cli/internal/owner.h"
#include "net/http_client.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr uint64_t kPageRows = 200;

std::string documents_path(const Arguments& arguments) {
  return collection_path(arguments.collection) + "/documents";
}

// Page by page, so that memory does not grow with the collection; `on_document` returns false to
// stop.
Result<void> for_each_document(Owner& owner, const Arguments& arguments, uint64_t limit,
                               const std::function<bool(const Json&)>& on_document) {
  std::string after = arguments.after;
  uint64_t left = limit == 0 ? UINT64_MAX : limit;
  const std::stop_token stop = base::process_stop_token();
  while (left > 0) {
    if (stop.stop_requested()) {
      return fail(Code::Interrupted, "stopped");
    }
    auto page =
        owner.call("GET", fmt::format("{}?limit={}&after={}", documents_path(arguments),
                                      std::min(left, kPageRows), net::encode_uri_part(after)));
    if (!page) {
      return pass_on(page);
    }
    for (const Json& document : base::value_at(*page, "documents")) {
      --left;
      if (!on_document(document)) {
        return {};
      }
    }
    const Json& next = base::value_at(*page, "next");
    if (!next.is_string()) {
      return {};
    }
    after = next.get<std::string>();
  }
  return {};
}

}  // namespace

Result<int> list_documents(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto done = for_each_document(**owner, arguments, arguments.limit, [&](const Json& document) {
    const std::string id = base::text_at(document, "id");
    const std::string title = base::text_at(document, "title");
    if (terminal.json()) {
      terminal.print_json({{"id", id}, {"title", title}});
    } else {
      terminal.print(title.empty() ? id : fmt::format("{}\t{}", id, title));
    }
    return true;
  });
  if (!done) {
    return pass_on(done);
  }
  return 0;
}

Result<int> get_document(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto document =
      (*owner)->call("GET", documents_path(arguments) + "/" + net::encode_uri_part(arguments.id));
  if (!document) {
    return pass_on(document);
  }
  terminal.print(base::dump_json(*document, terminal.json() ? -1 : 2));
  return 0;
}

Result<int> delete_documents(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  uint64_t deleted = 0;
  Json missing = Json::array();
  for (const std::string& id : arguments.paths) {
    auto done =
        (*owner)->call("DELETE", documents_path(arguments) + "/" + net::encode_uri_part(id));
    if (done) {
      ++deleted;
    } else if (done.error().code == Code::NotFound) {
      missing.push_back(id);
      terminal.warn(done.error().message);
    } else {
      return pass_on(done);
    }
  }
  if (terminal.json()) {
    terminal.print_json({{"deleted", deleted}, {"missing", missing}});
  } else {
    terminal.note(fmt::format("deleted {}", deleted));
  }
  return missing.empty() ? 0 : exit_status(Code::NotFound);
}

Result<int> export_documents(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto done = for_each_document(**owner, arguments, 0, [&](const Json& document) {
    terminal.print_json(document);
    return true;
  });
  if (!done) {
    return pass_on(done);
  }
  return 0;
}

}  // namespace sibyl::cli
