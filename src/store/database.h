#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "store/collection.h"

namespace sibyl::store {

struct DatabaseOptions {
  uint64_t tail_rows_max = 4096;          ///< sealed above that
  uint64_t tail_bytes_max = 64ULL << 20;  ///< log bytes; sealed above that
  uint64_t rows_max = uint64_t{1} << 31;  ///< a collection
  size_t dimension_max = 32768;
  size_t row_bytes_max = size_t{64} << 20;  ///< one log record
};

/// The collections of a data directory, each in its folder. One process at a time may open it (the
/// caller holds the directory's lock). Thread-safe.
class Database {
 public:
  /// Opens every collection and recovers it. DataLoss names a damaged file and what is lost.
  static Result<std::unique_ptr<Database>> open(const std::string& directory,
                                                const DatabaseOptions& options,
                                                base::FileSystem& files = base::real_file_system());
  virtual ~Database() = default;
  /// Names: 1 to 64 of [A-Za-z0-9._-], first a letter, digit or underscore.
  virtual Result<std::shared_ptr<Collection>> create(const std::string& name, const Schema& schema,
                                                     const std::string& settings) = 0;
  /// NotFound names the collections there are.
  virtual Result<std::shared_ptr<Collection>> find(const std::string& name) const = 0;
  virtual std::vector<std::string> names() const = 0;
  /// The folder is renamed away first, so a crash leaves all or nothing.
  virtual Result<void> drop(const std::string& name) = 0;
};

}  // namespace sibyl::store
