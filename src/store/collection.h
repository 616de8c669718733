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

/// A long operation and how far it is.
struct OperationProgress {
  std::string name;  ///< "compact", "merge", "index", "switch model"
  uint64_t done = 0;
  uint64_t total = 0;       ///< 0 while it is not known
  bool background = false;  ///< nobody waits for it
};

/// The vectors of one field and what searches them.
struct VectorFieldStatistics {
  std::string name;
  size_t dimension = 0;
  uint64_t vectors = 0;          ///< of sealed rows
  uint64_t indexed_vectors = 0;  ///< of those, under an index; the others are compared one by one
  std::string index = "exact";   ///< "exact", "flat", "graph"
  uint64_t resident_bytes = 0;   ///< held in memory
  uint64_t mapped_bytes = 0;     ///< of files, read when they are touched
};

struct CollectionStatistics {
  uint64_t live_rows = 0;
  uint64_t deleted_rows = 0;  ///< still in segments
  uint64_t sealed_segments = 0;
  uint64_t tail_rows = 0;
  uint64_t log_bytes = 0;
  uint64_t disk_bytes = 0;
  uint64_t sequence = 0;
  uint64_t logs = 0;           ///< log files
  uint64_t tail_rows_all = 0;  ///< deleted ones too
  std::vector<VectorFieldStatistics> vector_fields;
  std::optional<OperationProgress> operation;  ///< that goes on
  std::string trouble;  ///< why changes or questions are refused; empty: all is well
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

  /// Turns the tail into a sealed segment and starts a new log. Happens by itself in the background
  /// when the tail is full, as merges of small segments do; writers and readers go on meanwhile.
  virtual Result<void> seal() = 0;
  /// Rewrites all segments into one without deleted rows. As every long operation it may be stopped
  /// and leaves everything as it was then (Interrupted); one runs at a time.
  virtual Result<void> compact(std::stop_token stop, const Progress& progress) = 0;
  /// Model switch: makes vectors of every live row for `next`'s vector fields through `maker`,
  /// while writes go on, then swaps the manifest to the new generation, model and settings in one
  /// step. Text and postings stay. Interrupted or failed: the old generation stays whole.
  virtual Result<void> replace_vectors(const Schema& next, const std::string& settings,
                                       const VectorMaker& maker, std::stop_token stop,
                                       const Progress& progress) = 0;
  /// Stops the long operation that runs, here or in the background; false when none does.
  virtual bool cancel_operation() = 0;
  virtual CollectionStatistics statistics() const = 0;
  /// Reads every file whole and checks every checksum; DataLoss names the first damaged one.
  virtual Result<void> verify() const = 0;
};

}  // namespace sibyl::store
