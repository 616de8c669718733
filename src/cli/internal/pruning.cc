#include "cli/internal/pruning.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/json.h"
#include "base/json_access.h"
#include "net/http_client.h"

namespace sibyl::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr size_t kPageRows = 500;
constexpr size_t kOthersShown = 3;

std::string origin_of(const std::string& path) {
  if (path == "-") {
    return path;
  }
  std::error_code problem;
  fs::path whole = fs::weakly_canonical(path, problem);
  if (problem) {
    whole = fs::absolute(path, problem).lexically_normal();
  }
  std::string origin = whole.string();
  if (origin.size() > 1 && origin.ends_with('/')) {
    origin.pop_back();
  }
  return origin;
}

/// Its file or folder was removed. Where the folder above is missing too, a disk may just not be
/// mounted.
bool is_gone(const std::string& origin) {
  std::error_code problem;
  return origin.starts_with('/') && !fs::exists(origin, problem) && !problem &&
         fs::is_directory(fs::path(origin).parent_path(), problem);
}

std::string say_others(const std::vector<std::string>& others, bool more) {
  std::vector<std::string> said;
  for (size_t i = 0; i < std::min(others.size(), kOthersShown); ++i) {
    said.push_back(others[i].empty()  ? "senders that named no file"
                   : others[i] == "-" ? "standard input"
                                      : others[i]);
  }
  if (others.size() > kOthersShown || more) {
    said.emplace_back("other places");
  }
  return fmt::format("{}", fmt::join(said, ", "));
}

Result<std::vector<std::string>> missing_ids(Owner& owner, const std::string& collection,
                                             const std::set<std::string>& kept) {
  std::vector<std::string> missing;
  std::string after;
  for (;;) {
    auto page =
        owner.call("GET", fmt::format("{}/documents?limit={}&after={}", collection_path(collection),
                                      kPageRows, net::encode_uri_part(after)));
    if (!page) {
      return pass_on(page);
    }
    for (const Json& document : base::value_at(*page, "documents")) {
      std::string id = base::text_at(document, "id");
      if (!kept.contains(id)) {
        missing.push_back(std::move(id));
      }
    }
    const Json& next = base::value_at(*page, "next");
    if (!next.is_string()) {
      return missing;
    }
    after = next.get<std::string>();
  }
}

}  // namespace

PathOrigins::PathOrigins(const std::vector<std::string>& paths) : paths_(paths) {
  for (const std::string& path : paths) {
    origins_.push_back(origin_of(path));
  }
}

std::string PathOrigins::of(const std::string& file) const {
  for (size_t i = 0; i < paths_.size(); ++i) {
    const std::string& path = paths_[i];
    const bool below =
        file.starts_with(path) && !path.empty() &&
        (path.ends_with('/') || file.size() == path.size() || file[path.size()] == '/');
    if (below) {
      return origins_[i];
    }
  }
  return file;
}

bool PathOrigins::holds(const std::string& origin) const {
  return std::any_of(origins_.begin(), origins_.end(), [&](const std::string& given) {
    return origin == given ||
           (given.starts_with('/') && origin.starts_with(given == "/" ? given : given + "/"));
  });
}

std::vector<std::string> PathOrigins::others(const std::set<std::string>& names) const {
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (!holds(name) && !is_gone(name)) {
      others.push_back(name);
    }
  }
  return others;
}

Result<std::vector<std::string>> find_pruned(Owner& owner, const std::string& collection,
                                             const std::set<std::string>& kept,
                                             const PathOrigins& origins) {
  auto state = owner.call("GET", collection_path(collection));
  if (!state) {
    return state.error().code == Code::NotFound ? Result<std::vector<std::string>>()
                                                : pass_on(state);
  }
  auto missing = missing_ids(owner, collection, kept);
  if (!missing || missing->empty()) {
    return missing;
  }
  std::set<std::string> names;
  for (const Json& name : base::value_at(*state, "origins")) {
    names.insert(name.is_string() ? name.get<std::string>() : std::string());
  }
  const bool more = base::flag_at(*state, "more_origins");
  const std::vector<std::string> others = origins.others(names);
  if (!others.empty() || more) {
    return fail_field(Code::FailedPrecondition, "prune",
                      "--prune would remove {} documents, but collection {} also holds documents "
                      "from {}; nothing was added or removed. Give those paths in the same "
                      "command, or remove documents with `sibyl documents delete`",
                      missing->size(), collection, say_others(others, more));
  }
  return missing;
}

}  // namespace sibyl::cli
