#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/row.h"
#include "store/schema.h"
#include "store/snapshot.h"

namespace sibyl::store {

/// One change of a row. `Put` replaces the row of the same id when ids are unique, else adds one.
struct Change {
  enum class Kind { Put, Delete };
  Kind kind = Kind::Put;
  Row row;  ///< only `id` is read for Delete
};

enum class Outcome { Added, Updated, Deleted, NotThere };
struct WriteReceipt {
  uint64_t sequence = 0;  ///< of the last change
  std::vector<Outcome> outcomes;
};

struct CollectionStatistics {
  uint64_t live_rows = 0;
  uint64_t deleted_rows = 0;  ///< still in segments
  uint64_t sealed_segments = 0;
  uint64_t tail_rows = 0;
  uint64_t log_bytes = 0;
  uint64_t disk_bytes = 0;
  uint64_t sequence = 0;
};

/// Vectors of rows for a new generation: for each row one entry a vector field, [parts x
/// dimension].
using VectorMaker = std::function<Result<std::vector<std::vector<std::vector<float>>>>(
    std::span<const RowView> rows)>;
/// Rows done and rows in all.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

/// Rows, their log, tail, sealed segments and manifest (docs/formats/). Thread-safe: writers take
/// turns, readers use snapshots and never wait.
class Collection {
 public:
  virtual ~Collection() = default;
  virtual const std::string& name() const = 0;
  virtual Schema schema() const = 0;
  /// The settings text kept in the manifest for the layer above (JSON); empty at first.
  virtual std::string settings() const = 0;
  virtual Result<void> set_settings(const std::string& settings) = 0;

  /// Applies all changes in order: each one log record, atomic by itself, all durable when this
  /// returns (concurrent calls share one sync) and visible in the next snapshot. A wrong row
  /// (dimension, NaN, id) refuses the whole call before anything is written. `generation` is the
  /// schema's that the vectors were made for; FailedPrecondition when the model was switched since,
  /// also while the call waited: encode again.
  virtual Result<WriteReceipt> write(std::vector<Change> changes,
                                     std::optional<uint64_t> generation = std::nullopt) = 0;
  virtual std::shared_ptr<const Snapshot> snapshot() const = 0;

  /// Turns the tail into a sealed segment and starts a new log.
  virtual Result<void> seal() = 0;
  /// Rewrites all segments into one without deleted rows.
  virtual Result<void> compact(std::stop_token stop, const Progress& progress) = 0;
  /// Model switch: makes vectors of every live row for `next`'s vector fields through `maker`,
  /// while writes go on, then swaps the manifest to the new generation, model and settings in one
  /// step. Text and postings stay. Interrupted or failed: the old generation stays whole.
  virtual Result<void> replace_vectors(const Schema& next, const std::string& settings,
                                       const VectorMaker& maker, std::stop_token stop,
                                       const Progress& progress) = 0;
  virtual CollectionStatistics statistics() const = 0;
  /// Reads every file whole and checks every checksum; DataLoss names the first damaged one.
  virtual Result<void> verify() const = 0;
};

}  // namespace sibyl::store
