#include "store/internal/log_reader.h"

#include <optional>

#include "base/bytes.h"
#include "index/checked_file.h"

namespace sibyl::store {
namespace {

bool read_header(std::string_view bytes, uint64_t number, bool& copy) {
  if (bytes.size() < kLogHeaderBytes || !bytes.starts_with(kLogMagic)) {
    return false;
  }
  base::ByteReader reader(bytes.substr(kLogMagic.size()));
  const uint32_t version = reader.u32();
  copy = reader.u32() == kLogIsCopy;
  const uint64_t found = reader.u64();
  reader.skip(4);
  return version == kLogVersion && found == number &&
         reader.u32() == base::crc32(bytes.substr(0, kLogHeaderBytes - 4));
}

/// The first whole record past `damage` that was written after the damaged place had been synced:
/// its group starts past the damage. The work is bounded, as a made-up file may hold many
/// places that look like a record.
std::optional<LogRecord> find_later_group(std::string_view bytes, uint64_t damage, bool& gave_up) {
  uint64_t budget = 16 * static_cast<uint64_t>(bytes.size()) + (uint64_t{1} << 20);
  LogRecord record;
  for (uint64_t offset = damage + 1; offset + kRecordHeaderBytes <= bytes.size(); ++offset) {
    base::ByteReader reader(bytes.substr(offset + 4));
    const uint32_t length = reader.u32();
    const uint64_t group_start = reader.u64();
    if (group_start <= damage || group_start > offset || length > bytes.size() - offset) {
      continue;
    }
    if (budget < length) {
      gave_up = true;
      return std::nullopt;
    }
    budget -= length;
    if (read_record(bytes, offset, record)) {
      return record;
    }
  }
  return std::nullopt;
}

tl::unexpected<Error> damage_error(const std::string& path, uint64_t offset, uint64_t first_lost,
                                   const std::optional<LogRecord>& later) {
  if (!later) {
    return index::damaged(path, fmt::format("byte {}: what follows is no log; changes from "
                                            "sequence {} on cannot be read; restore the file from "
                                            "a copy",
                                            offset, first_lost));
  }
  const bool change =
      later->header.type == RecordType::Put || later->header.type == RecordType::Delete;
  const uint64_t last_lost = change ? later->header.sequence - 1 : later->header.sequence;
  return index::damaged(
      path, fmt::format("byte {}: a record that had been stored does not match its checksum; the "
                        "changes with sequences {} to {} are lost unless the file is restored from "
                        "a copy",
                        offset, first_lost, last_lost));
}

}  // namespace

Result<LogContents> read_log(std::string_view bytes, const std::string& path, uint64_t number,
                             uint64_t sequence_before) {
  LogContents log;
  log.header_ok = read_header(bytes, number, log.copy);
  log.copy = log.copy && log.header_ok;
  uint64_t offset = kLogHeaderBytes;
  uint64_t last_sequence = sequence_before;
  LogRecord record;
  while (offset < bytes.size() && !log.ended && read_record(bytes, offset, record)) {
    ++log.records;
    log.marked = record.header.type == RecordType::Mark || record.header.type == RecordType::End;
    log.ended = record.header.type == RecordType::End;
    if (!log.marked) {
      log.changes.push_back(record);
    }
    last_sequence = record.header.sequence;
    offset = record.end();
  }
  log.end = offset;
  if (offset >= bytes.size()) {
    return log;
  }
  bool gave_up = false;
  const std::optional<LogRecord> later = find_later_group(bytes, offset, gave_up);
  if (later || gave_up || log.ended) {
    return damage_error(path, offset, last_sequence + 1, later);
  }
  log.torn = true;
  return log;
}

}  // namespace sibyl::store
