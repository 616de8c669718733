#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/internal/owner.h"

namespace sibyl::cli {

/// PATH arguments as origins of documents: absolute, links resolved, "-" as it is; and which of
/// them a file was found under.
class PathOrigins {
 public:
  explicit PathOrigins(const std::vector<std::string>& paths);
  /// Of a file that the reader found under one of the paths.
  std::string of(const std::string& file) const;
  /// The origins among `names` whose documents reading these paths says nothing about: those that
  /// lie neither at nor below one of them and still exist.
  std::vector<std::string> others(const std::set<std::string>& names) const;

 private:
  bool holds(const std::string& origin) const;

  std::vector<std::string> paths_;
  std::vector<std::string> origins_;
};

/// The documents of the collection whose ids are not `kept`: what --prune removes.
/// FailedPrecondition when there are some and documents came from elsewhere too, or nobody knows
/// from where. A collection that is not there holds none.
Result<std::vector<std::string>> find_pruned(Owner& owner, const std::string& collection,
                                             const std::set<std::string>& kept,
                                             const PathOrigins& origins);

}  // namespace sibyl::cli
