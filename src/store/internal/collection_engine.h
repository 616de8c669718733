#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/collection.h"
#include "store/database.h"
#include "store/internal/folder.h"
#include "store/internal/log_reader.h"
#include "store/internal/log_writer.h"
#include "store/internal/manifest.h"
#include "store/internal/segment_files.h"
#include "store/internal/state_editor.h"
#include "store/internal/state_snapshot.h"

namespace sibyl::store {

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

/// Our engine. Locks, in the order in which they are taken: `maintenance_` (one compaction or model
/// switch at a time), `turn_` (the one writer: log, manifest, editor), then `queue_` or
/// `published_lock_`, both held for moments only. Readers take `published_lock_` to copy a pointer.
class CollectionEngine final : public Collection {
 public:
  /// Checks a schema against the options; InvalidArgument names the field.
  static Result<void> check_schema(const Schema& schema, const DatabaseOptions& options);
  /// Writes log and manifest of a new collection into an empty folder.
  static Result<void> create_files(const Folder& folder, const Schema& schema,
                                   const std::string& settings);
  /// Opens what lies in the folder and replays the logs.
  static Result<std::shared_ptr<CollectionEngine>> open(std::string name, Folder folder,
                                                        const DatabaseOptions& options);

  const std::string& name() const override { return name_; }
  Schema schema() const override { return *current()->state().schema; }
  std::string settings() const override { return current()->state().settings; }
  Result<void> set_settings(const std::string& settings) override;
  Result<WriteReceipt> write(std::vector<Change> changes,
                             std::optional<uint64_t> generation) override;
  std::shared_ptr<const Snapshot> snapshot() const override { return current(); }
  Result<void> seal() override;
  Result<void> compact(std::stop_token stop, const Progress& progress) override;
  Result<void> replace_vectors(const Schema& next, const std::string& settings,
                               const VectorMaker& maker, std::stop_token stop,
                               const Progress& progress) override;
  CollectionStatistics statistics() const override;
  Result<void> verify() const override;

  /// Ends or allows writes of a dropped collection.
  void set_dropped(bool dropped);

 private:
  CollectionEngine(std::string name, Folder folder, const DatabaseOptions& options)
      : name_(std::move(name)), folder_(std::move(folder)), options_(options) {}

  std::shared_ptr<const StateSnapshot> current() const;
  void publish(CollectionState state);

  // Writing; `turn_` is held.
  Result<PreparedChange> prepare(Change change, const CollectionState& state) const;
  std::vector<PendingWrite*> take_group();
  Result<void> make_room();
  WriteReceipt apply(PendingWrite& pending, StateEditor& editor);
  void commit_group();
  void refuse(const Error& why);
  Result<void> check_writable() const;
  Result<void> check_pending(const PendingWrite& pending, uint64_t live_rows) const;
  void seal_when_full();
  bool tail_is_full(uint64_t factor) const;

  // Sealing and the manifest; `turn_` is held.
  Result<void> seal_locked();
  Result<void> rotate_log();
  /// Writes the manifest of `state`. After a failure `replaced` tells whether the new one may be on
  /// the disk, so that its files have to stay.
  Result<void> save(Manifest& manifest, const CollectionState& state, bool& replaced);
  void discard_unlisted(const Manifest& before);
  uint64_t take_number() { return manifest_.next_number++; }

  // Compaction and model switch.
  Result<void> swap_merged(const CollectionState& merged_from, std::span<const MergedRow> rows,
                           std::optional<SealedSegment> merged);
  friend class GenerationSwitch;

  // Recovery.
  Result<void> load_segments();
  Result<void> load_logs();
  Result<void> replay(std::span<const LogRecord> records, const std::string& path,
                      StateEditor& editor);
  Result<void> rewrite_logs(const std::vector<LogRecord>& records);
  Result<void> remove_orphans();

  const std::string name_;
  const Folder folder_;
  const DatabaseOptions options_;

  std::mutex maintenance_;
  mutable std::mutex turn_;
  Manifest manifest_;               ///< guarded by turn_
  std::unique_ptr<LogWriter> log_;  ///< guarded by turn_
  std::vector<uint64_t> logs_;      ///< on the disk, oldest first; guarded by turn_
  TailIds tail_ids_;                ///< guarded by turn_
  std::optional<Error> refusal_;    ///< why no write is taken any more; guarded by turn_
  uint64_t seal_retry_rows_ = 0;    ///< tail rows before a failed seal is tried again; turn_
  bool dropped_ = false;            ///< guarded by turn_

  std::mutex queue_;
  std::deque<PendingWrite*> pending_;  ///< guarded by queue_

  mutable std::mutex published_lock_;
  std::shared_ptr<const StateSnapshot> published_;  ///< guarded by published_lock_
};

}  // namespace sibyl::store
