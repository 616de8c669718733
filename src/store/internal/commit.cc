#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "store/internal/collection_engine.h"
#include "store/internal/typed_metadata.h"
#include "text/utf8.h"

namespace sibyl::store {
namespace {

constexpr uint64_t kGroupBytesMax = 16ULL << 20;
/// Writers that find this many times the limits of a tail help to seal it.
constexpr uint64_t kTailFactorHelp = 4;
/// Sealing that fails may let the tail grow to this many times its limits.
constexpr uint64_t kTailFactorMax = 16;
constexpr size_t kIdBytesMax = 1024;

Result<void> check_id(const std::string& id) {
  if (id.empty() || id.size() > kIdBytesMax) {
    return fail_field(Code::InvalidData, "id", "the id has {} bytes; 1 to {} are possible",
                      id.size(), kIdBytesMax);
  }
  if (!text::is_utf8(id)) {
    return fail_field(Code::InvalidData, "id", "the id is not valid UTF-8");
  }
  return {};
}

Result<void> check_row(const Row& row, const Schema& schema) {
  if (row.texts.size() != schema.text_fields.size()) {
    return fail_field(Code::InvalidData, "texts",
                      "row '{}' has {} texts; the collection has {} text fields", row.id,
                      row.texts.size(), schema.text_fields.size());
  }
  if (row.vectors.size() != schema.vector_fields.size()) {
    return fail_field(Code::InvalidData, "vectors",
                      "row '{}' has vectors for {} fields; the collection has {} vector fields",
                      row.id, row.vectors.size(), schema.vector_fields.size());
  }
  for (size_t i = 0; i < row.vectors.size(); ++i) {
    const VectorField& field = schema.vector_fields[i];
    if (Result<void> checked = index::check_vectors(row.vectors[i], field.dimension); !checked) {
      checked.error().field = field.name;
      return pass_on(checked, fmt::format("row '{}', field '{}'", row.id, field.name));
    }
  }
  return {};
}

}  // namespace

Result<PreparedChange> CollectionEngine::prepare(Change change,
                                                 const CollectionState& state) const {
  if (Result<void> checked = check_id(change.row.id); !checked) {
    return pass_on(checked);
  }
  PreparedChange prepared;
  prepared.id = change.row.id;
  if (change.kind == Change::Kind::Delete) {
    prepared.payload = encode_delete(prepared.id);
    prepared.payload_checksum = base::crc32(prepared.payload);
    return prepared;
  }
  if (Result<void> checked = check_row(change.row, *state.schema); !checked) {
    return pass_on(checked);
  }
  Result<std::string> typed = encode_typed_metadata(change.row.metadata);
  if (!typed) {
    return pass_on(typed, fmt::format("row '{}'", change.row.id));
  }
  prepared.payload = encode_put(change.row, state.schema->generation);
  if (prepared.payload.size() > options_.row_bytes_max) {
    return fail(Code::TooLarge, "row '{}' has {} bytes; at most {} are stored (row_bytes_max)",
                change.row.id, prepared.payload.size(), options_.row_bytes_max);
  }
  prepared.payload_checksum = base::crc32(prepared.payload);
  auto row = std::make_shared<TailRow>();
  row->row = std::move(change.row);
  row->id_hash = base::hash64(row->row.id);
  row->typed = std::move(*typed);
  for (const std::string& text : row->row.texts) {
    row->texts.emplace_back(analyze_text(*state.analyzer, text));
  }
  prepared.row = std::move(row);
  return prepared;
}

Result<WriteReceipt> CollectionEngine::write(std::vector<Change> changes,
                                             std::optional<uint64_t> generation) {
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  PendingWrite pending;
  pending.generation = snapshot->state().schema->generation;
  if (generation && *generation != pending.generation) {
    return fail(Code::FailedPrecondition,
                "the vectors are of generation {}, the collection is at {}: its model was switched "
                "meanwhile; encode the documents again",
                *generation, pending.generation);
  }
  if (changes.empty()) {
    return WriteReceipt{snapshot->sequence(), {}};
  }
  pending.changes.reserve(changes.size());
  for (Change& change : changes) {
    Result<PreparedChange> prepared = prepare(std::move(change), snapshot->state());
    if (!prepared) {
      return pass_on(prepared);
    }
    pending.bytes += prepared->payload.size() + kRecordHeaderBytes;
    pending.changes.push_back(std::move(*prepared));
  }
  {
    const std::lock_guard lock(queue_);
    pending_.push_back(&pending);
  }
  take_turns(pending);
  return std::move(pending.result);
}

/// Commits groups until this call's changes were in one.
void CollectionEngine::take_turns(PendingWrite& pending) {
  while (true) {
    {
      const std::lock_guard turn(turn_);
      while (!pending.done && !tail_is_full(kTailFactorHelp)) {
        commit_group();
      }
      if (pending.done) {
        return;
      }
    }
    if (Result<void> room = make_room(); !room) {
      withdraw(pending, room.error());
      return;
    }
    const std::lock_guard turn(turn_);
    if (!pending.done) {
      commit_group();
    }
    if (pending.done) {
      return;
    }
  }
}

Result<void> CollectionEngine::make_room() {
  const std::lock_guard sealing(sealing_);
  {
    const std::lock_guard turn(turn_);
    const bool may_grow = !tail_is_full(kTailFactorMax);
    if (may_grow && (!tail_is_full(kTailFactorHelp) || unsealed_log_bytes() < seal_retry_bytes_)) {
      return {};
    }
  }
  Result<void> sealed = try_seal();
  const std::lock_guard turn(turn_);
  return sealed || !tail_is_full(kTailFactorMax) ? Result<void>() : sealed;
}

/// Takes a refused call out of the queue, unless a group has taken it meanwhile.
void CollectionEngine::withdraw(PendingWrite& pending, const Error& why) {
  const std::lock_guard turn(turn_);
  if (pending.done) {
    return;
  }
  const std::lock_guard lock(queue_);
  std::erase(pending_, &pending);
  pending.done = true;
  pending.result = tl::unexpected<Error>(why);
}

/// The calls that waited while the last group was synced, up to a size.
std::vector<PendingWrite*> CollectionEngine::take_group() {
  const std::lock_guard lock(queue_);
  std::vector<PendingWrite*> group;
  uint64_t bytes = 0;
  while (!pending_.empty() &&
         (group.empty() || bytes + pending_.front()->bytes <= kGroupBytesMax)) {
    bytes += pending_.front()->bytes;
    group.push_back(pending_.front());
    pending_.pop_front();
  }
  return group;
}

Result<void> CollectionEngine::check_writable() const {
  if (dropped_) {
    return fail(Code::NotFound, "collection '{}' was dropped", name_);
  }
  if (refusal_) {
    return fail(refusal_->code,
                "collection '{}' takes no changes until the program is started again, as it cannot "
                "know what is on the disk: {}",
                name_, refusal_->message);
  }
  return {};
}

Result<void> CollectionEngine::check_pending(const PendingWrite& pending,
                                             uint64_t live_rows) const {
  const uint64_t generation = current()->state().schema->generation;
  if (pending.generation != generation) {
    return fail(Code::FailedPrecondition,
                "the model of collection '{}' was switched while the rows waited (generation {} to "
                "{}); encode the documents again",
                name_, pending.generation, generation);
  }
  const auto puts = static_cast<uint64_t>(
      std::count_if(pending.changes.begin(), pending.changes.end(),
                    [](const PreparedChange& change) { return change.row != nullptr; }));
  if (puts > 0 && live_rows + puts > options_.rows_max) {
    return fail(Code::ResourceExhausted,
                "collection '{}' has {} rows; {} more would exceed {} (rows_max)", name_, live_rows,
                puts, options_.rows_max);
  }
  return {};
}

WriteReceipt CollectionEngine::apply(PendingWrite& pending, StateEditor& editor) {
  WriteReceipt receipt;
  for (PreparedChange& change : pending.changes) {
    const uint64_t sequence = editor.sequence() + 1;
    int64_t row_key = 0;
    if (change.row != nullptr) {
      receipt.outcomes.push_back(editor.put(change.row, sequence));
      row_key = change.row->row_key;
    } else {
      receipt.outcomes.push_back(editor.remove(change.id, sequence));
    }
    log_->add(change.row != nullptr ? RecordType::Put : RecordType::Delete, sequence, row_key,
              change.payload, change.payload_checksum);
  }
  receipt.sequence = editor.sequence();
  return receipt;
}

void CollectionEngine::commit_group() {
  const std::vector<PendingWrite*> group = take_group();
  const Result<void> writable = check_writable();
  const std::shared_ptr<const StateSnapshot> before = current();
  StateEditor editor(before->state(), tail_ids_);
  std::vector<PendingWrite*> accepted;
  for (PendingWrite* pending : group) {
    pending->done = true;
    Result<void> checked = writable ? check_pending(*pending, editor.live_rows()) : writable;
    if (checked) {
      pending->result = apply(*pending, editor);
      accepted.push_back(pending);
    } else {
      pending->result = pass_on(checked);
    }
  }
  if (accepted.empty()) {
    return;
  }
  const Result<void> committed = log_->commit();
  if (!log_->usable()) {
    refuse(committed ? Error{Code::IoError, log_->path() + " could not be mended", {}}
                     : committed.error());
  }
  if (committed) {
    publish(editor.finish());
    if (seal_wanted()) {
      background_->wake(WorkKind::Seal, shared_from_this());
    }
    return;
  }
  tail_ids_ = index_tail(before->state().tail);
  for (PendingWrite* pending : accepted) {
    pending->result = tl::unexpected<Error>(committed.error());
  }
}

void CollectionEngine::refuse(const Error& why) {
  refusal_ = why;
  {
    const std::lock_guard lock(published_lock_);
    trouble_ = why.message;
  }
  base::log_error("store", "collection '{}' takes no more changes: {}", name_, why.message);
}

uint64_t CollectionEngine::unsealed_log_bytes() const {
  return ended_log_bytes_ + (log_->usable() ? log_->bytes() : 0);
}

bool CollectionEngine::tail_is_full(uint64_t factor) const {
  return current()->state().tail.rows >= options_.tail_rows_max * factor ||
         unsealed_log_bytes() >= options_.tail_bytes_max * factor;
}

}  // namespace sibyl::store
