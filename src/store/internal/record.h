#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/row.h"

namespace sibyl::store {

// Records of a log, docs/formats/log.md.
inline constexpr std::string_view kLogMagic = "SIBYLLOG";
inline constexpr uint32_t kLogVersion = 1;
inline constexpr uint32_t kLogIsCopy = 1;  ///< flag of the header
inline constexpr size_t kLogHeaderBytes = 32;
inline constexpr size_t kRecordHeaderBytes = 33;

enum class RecordType : uint8_t {
  Put = 1,
  Delete = 2,
  Mark = 3,  ///< everything before it was synced
  End = 4    ///< the log is whole; the next one goes on
};

struct RecordHeader {
  uint64_t group_start = 0;  ///< every byte before it had been synced when this was written
  uint64_t sequence = 0;
  int64_t row_key = 0;
  RecordType type = RecordType::Put;
};

/// Appends checksum, header and payload; `payload_checksum` is crc32(payload).
void append_record(std::string& out, const RecordHeader& header, std::string_view payload,
                   uint32_t payload_checksum);

/// A record in a log's bytes.
struct LogRecord {
  RecordHeader header;
  uint64_t offset = 0;
  std::string_view payload;
  uint64_t end() const { return offset + kRecordHeaderBytes + payload.size(); }
};

/// The whole record at `offset`; false when it is cut off or its checksum does not match.
bool read_record(std::string_view log, uint64_t offset, LogRecord& record);

std::string encode_put(const Row& row, uint64_t generation);
std::string encode_delete(std::string_view id);
/// False when the payload does not decode; `limits` of a row are checked by the writer.
bool decode_put(std::string_view payload, Row& row, uint64_t& generation);
bool decode_delete(std::string_view payload, std::string& id);

}  // namespace sibyl::store
