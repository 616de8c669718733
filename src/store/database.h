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
  /// Segments of about one size that are merged into one when so many stand side by side.
  size_t merge_segments = 8;
  /// Threads for merges and index builds, and one more for seals, all below queries in priority.
  /// 0: nothing runs by itself; `run_background` and `settle` do it.
  unsigned background_threads = 1;
  unsigned build_threads = 1;  ///< of one index build
  /// Vectors of a field in all segments from which on they get an index: flat codes, then a graph.
  uint64_t flat_vectors_min = 10'000;
  uint64_t graph_vectors_min = 100'000;
  /// What merges, index builds and indexes in memory may take together; one that would exceed it is
  /// refused with both figures. 0: half of the memory that this process may use.
  uint64_t memory_bytes_max = 0;
  /// Files of this size and more are opened by their structure alone, and read whole in the
  /// background soon after: damage is named then, and nothing is answered from it any more.
  uint64_t checked_later_bytes_min = uint64_t{32} << 20;
  /// How long after opening that begins: the first questions have the disk for themselves.
  uint32_t check_delay_ms = 1000;
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
  /// Does one waiting piece of background work in the calling thread; false when none waits.
  virtual bool run_background() = 0;
  /// Returns when no background work waits or runs.
  virtual void settle() = 0;
};

}  // namespace sibyl::store
