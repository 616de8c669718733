#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/collection.h"
#include "store/database.h"
#include "store/internal/background.h"
#include "store/internal/derived.h"
#include "store/internal/folder.h"
#include "store/internal/index_policy.h"
#include "store/internal/log_reader.h"
#include "store/internal/log_writer.h"
#include "store/internal/manifest.h"
#include "store/internal/operations.h"
#include "store/internal/segment_files.h"
#include "store/internal/state_editor.h"
#include "store/internal/state_snapshot.h"

namespace sibyl::store {

/// What the collections of a database share.
struct SharedParts {
  std::shared_ptr<BackgroundWork> background;
  std::shared_ptr<MemoryBudget> memory;
};

/// Rows that a merge puts into one segment at most.
inline constexpr uint64_t kSegmentRowsMax = UINT32_MAX - 1;

/// A change that was checked, analysed and encoded before its turn came.
struct PreparedChange {
  std::string id;
  std::shared_ptr<TailRow> row;  ///< null: a delete
  std::string payload;
  uint32_t payload_checksum = 0;
};

/// A call of `write` that waits for its group.
struct PendingWrite {
  std::vector<PreparedChange> changes;
  uint64_t generation = 0;
  uint64_t bytes = 0;
  bool done = false;
  Result<WriteReceipt> result;
};

/// Our engine. Locks, in the order in which they are taken: `operations_` (one merge, build or
/// model switch at a time), `sealing_` (one seal at a time), `turn_` (the one writer: log,
/// manifest, editor), then `queue_` or `published_lock_`, which are held for moments only. Files
/// are written without the writer's turn. Readers take `published_lock_` to copy a pointer.
class CollectionEngine final : public Collection,
                               public Worker,
                               public std::enable_shared_from_this<CollectionEngine> {
 public:
  /// Checks a schema against the options; InvalidArgument names the field.
  static Result<void> check_schema(const Schema& schema, const DatabaseOptions& options);
  /// Writes log and manifest of a new collection into an empty folder.
  static Result<void> create_files(const Folder& folder, const Schema& schema,
                                   const std::string& settings);
  /// Opens what lies in the folder and replays the logs.
  static Result<std::shared_ptr<CollectionEngine>> open(std::string name, Folder folder,
                                                        const DatabaseOptions& options,
                                                        SharedParts shared);

  const std::string& name() const override { return name_; }
  Schema schema() const override { return *current()->state().schema; }
  std::string settings() const override { return current()->state().settings; }
  Result<void> set_settings(const std::string& settings) override;
  Result<WriteReceipt> write(std::vector<Change> changes,
                             std::optional<uint64_t> generation) override;
  std::shared_ptr<const Snapshot> snapshot() const override;
  Result<void> seal() override;
  Result<void> compact(std::stop_token stop, const Progress& progress) override;
  Result<void> replace_vectors(const Schema& next, const std::string& settings,
                               const VectorMaker& maker, std::stop_token stop,
                               const Progress& progress) override;
  bool cancel_operation() override { return operations_.cancel(); }
  CollectionStatistics statistics() const override;
  Result<void> verify() const override;
  bool work(WorkKind kind, std::stop_token stop) override;

  /// Ends or allows writes of a dropped collection.
  void set_dropped(bool dropped);

 private:
  CollectionEngine(std::string name, Folder folder, const DatabaseOptions& options,
                   SharedParts shared)
      : name_(std::move(name)),
        folder_(std::move(folder)),
        options_(options),
        background_(std::move(shared.background)),
        memory_(std::move(shared.memory)) {}

  std::shared_ptr<const StateSnapshot> current() const;
  void publish(CollectionState state);

  // Writing; `turn_` is held.
  Result<PreparedChange> prepare(Change change, const CollectionState& state) const;
  std::vector<PendingWrite*> take_group();
  WriteReceipt apply(PendingWrite& pending, StateEditor& editor);
  void commit_group();
  void refuse(const Error& why);
  Result<void> check_writable() const;
  Result<void> check_pending(const PendingWrite& pending, uint64_t live_rows) const;
  uint64_t unsealed_log_bytes() const;
  /// Whether the tail, or what is in no segment yet, has `factor` times the size to be sealed at.
  bool tail_is_full(uint64_t factor) const;

  // Writing, without the turn.
  void take_turns(PendingWrite& pending);
  /// Seals for a writer that finds the tail too large. Fails when it may not grow any more.
  Result<void> make_room();
  void withdraw(PendingWrite& pending, const Error& why);

  // Sealing; `sealing_` is held.
  /// The rows of the tail that are being sealed: those that were there when its log ended.
  struct Seal {
    std::shared_ptr<const StateSnapshot> from;
    std::optional<SealedSegment> segment;  ///< none: no row of them is live
    std::vector<BuiltIndex> indexes;       ///< over the segment
    uint64_t number = 0;                   ///< of the segment
    uint64_t index_number = 0;             ///< of their files
    uint64_t first_log = 0;                ///< the log that goes on
  };
  /// The three parts of a seal; the first and the last with the turn.
  Result<void> seal_tail_now();
  Result<std::optional<Seal>> begin_seal();
  Result<void> write_seal(Seal& seal) const;
  /// Flat codes of the new segment, where the collection is large enough for indexes.
  void write_seal_indexes(Seal& seal) const;
  Result<void> finish_seal(Seal seal);
  /// All three with the turn: writers wait.
  Result<void> seal_under_turn();
  bool seal_wanted() const;
  bool work_on_seal();
  /// Seals, and after a failure waits with the next try until the tail has grown.
  Result<void> try_seal();

  // The manifest; `turn_` is held.
  Result<void> rotate_log();
  /// Writes the manifest of `state`. After a failure `replaced` tells whether the new one may be on
  /// the disk, so that its files have to stay.
  Result<void> save(Manifest& manifest, const CollectionState& state, bool& replaced);
  void discard_unlisted(const Manifest& before);
  void discard_files(std::span<const ManifestFile> files) const;
  uint64_t take_number() { return manifest_.next_number++; }

  // Merges and model switch, as operations.
  /// Declared before an operation: when that has ended, the background looks for work again.
  class WakeAfter {
   public:
    explicit WakeAfter(CollectionEngine& engine) : engine_(engine) {}
    ~WakeAfter() { engine_.background_->wake(WorkKind::Maintain, engine_.shared_from_this()); }
    WakeAfter(const WakeAfter&) = delete;
    WakeAfter& operator=(const WakeAfter&) = delete;

   private:
    CollectionEngine& engine_;
  };
  /// Runs a caller's long work below the queries.
  void run_below(const std::function<void()>& work) const;
  Result<void> compact_all(const std::stop_token& stop, const Progress& progress);
  bool work_on_maintenance(const std::stop_token& stop);
  /// Segments [first, first + count) become one, without deleted rows.
  Result<void> merge_range(size_t first, size_t count, Operations::Running& operation);
  Result<void> swap_merged(const CollectionState& merged_from, size_t first,
                           std::span<const MergedRow> rows, std::optional<SealedSegment> merged,
                           std::vector<BuiltIndex> built);

  Result<std::vector<BuiltIndex>> build_for_merge(const CollectionState& before,
                                                  const IndexRange& range,
                                                  const std::optional<SealedSegment>& merged,
                                                  Operations::Running& operation);

  // What was left out when the collection was opened, as operations.
  Result<void> catch_up(Operations::Running& operation);
  bool wait_for_first_questions(const std::stop_token& stop);
  Result<void> check_files(Operations::Running& operation);
  Result<void> check_indexes(Operations::Running& operation);
  void drop_index(const std::string& file_name);

  // Indexes, as operations.
  bool work_on_indexes(Operations::Running& operation);
  /// `before` is the state of the same generation whose graph may be extended, or null.
  Result<BuiltIndex> build_range(const CollectionState* before,
                                 std::span<const SegmentState> segments, size_t field,
                                 uint64_t generation, const IndexRange& range,
                                 Operations::Running& operation);
  Result<void> add_index(BuiltIndex built);
  Result<std::vector<BuiltIndex>> build_ahead(const CollectionState* before,
                                              const CollectionState& next,
                                              std::span<const size_t> fields,
                                              Operations::Running& operation);
  friend class GenerationSwitch;

  // Recovery.
  Result<void> load_segments();
  /// Opens the indexes that the manifest names; those that are damaged leave it.
  void load_indexes(CollectionState& state);
  Result<DerivedState> open_listed_index(const CollectionState& state, const ManifestFile& file,
                                         bool later);
  Result<void> load_logs();
  Result<void> replay(std::span<const LogRecord> records, const std::string& path,
                      StateEditor& editor);
  Result<void> rewrite_logs(const std::vector<LogRecord>& records, bool& replaced);
  Result<void> take_over_logs(const std::vector<LogRecord>& records, uint64_t last_log,
                              uint64_t end);
  Result<void> remove_orphans();

  const std::string name_;
  const Folder folder_;
  const DatabaseOptions options_;
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  const std::shared_ptr<BackgroundWork> background_;
  const std::shared_ptr<MemoryBudget> memory_;

  Operations operations_;
  std::vector<uint64_t> index_retry_vectors_;   ///< by field; of the operation that runs
  std::vector<UncheckedFile> unchecked_;        ///< of the operation that runs
  std::vector<std::string> unchecked_indexes_;  ///< names of files; of the operation that runs
  std::mutex sealing_;
  mutable std::mutex turn_;
  Manifest manifest_;               ///< guarded by turn_
  std::unique_ptr<LogWriter> log_;  ///< guarded by turn_
  std::vector<uint64_t> logs_;      ///< on the disk, oldest first; guarded by turn_
  TailIds tail_ids_;                ///< guarded by turn_
  std::optional<Error> refusal_;    ///< why no write is taken any more; guarded by turn_
  uint64_t ended_log_bytes_ = 0;    ///< of the logs before the current one; guarded by turn_
  uint64_t seal_retry_bytes_ = 0;   ///< unsealed before a failed seal is tried again; turn_
  bool dropped_ = false;            ///< guarded by turn_

  std::mutex queue_;
  std::deque<PendingWrite*> pending_;  ///< guarded by queue_

  mutable std::mutex published_lock_;
  std::string trouble_;  ///< why writes are refused, or empty; guarded by published_lock_
  std::shared_ptr<const StateSnapshot> published_;  ///< guarded by published_lock_
};

}  // namespace sibyl::store
