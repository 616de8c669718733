#include "store/internal/record.h"

#include <cstring>

#include "base/bytes.h"

namespace sibyl::store {
namespace {

constexpr size_t kChecksumBytes = 4;

}  // namespace

void append_record(std::string& out, const RecordHeader& header, std::string_view payload,
                   uint32_t payload_checksum) {
  std::string fields;
  base::put_u32(fields, static_cast<uint32_t>(payload.size()));
  base::put_u64(fields, header.group_start);
  base::put_u64(fields, header.sequence);
  base::put_u64(fields, static_cast<uint64_t>(header.row_key));
  fields.push_back(static_cast<char>(header.type));
  base::put_u32(out, base::crc32(fields, payload_checksum));
  out += fields;
  out += payload;
}

bool read_record(std::string_view log, uint64_t offset, LogRecord& record) {
  if (offset > log.size() || log.size() - offset < kRecordHeaderBytes) {
    return false;
  }
  base::ByteReader reader(log.substr(offset));
  const uint32_t checksum = reader.u32();
  const uint32_t bytes = reader.u32();
  record.header.group_start = reader.u64();
  record.header.sequence = reader.u64();
  record.header.row_key = static_cast<int64_t>(reader.u64());
  const uint8_t type = reader.u8();
  // Cheap tests first: looking for the next whole record tries every offset.
  if (type < static_cast<uint8_t>(RecordType::Put) ||
      type > static_cast<uint8_t>(RecordType::End) || record.header.group_start > offset ||
      bytes > reader.left()) {
    return false;
  }
  record.header.type = static_cast<RecordType>(type);
  record.offset = offset;
  record.payload = reader.take(bytes);
  const std::string_view fields =
      log.substr(offset + kChecksumBytes, kRecordHeaderBytes - kChecksumBytes);
  return base::crc32(fields, base::crc32(record.payload)) == checksum;
}

std::string encode_put(const Row& row, uint64_t generation) {
  std::string payload;
  base::put_varint(payload, generation);
  base::put_text(payload, row.id);
  base::put_u64(payload, row.content_hash);
  base::put_text(payload, row.source);
  base::put_text(payload, row.passages);
  base::put_text(payload, row.metadata);
  base::put_varint(payload, row.texts.size());
  for (const std::string& text : row.texts) {
    base::put_text(payload, text);
  }
  base::put_varint(payload, row.vectors.size());
  for (const std::vector<float>& vectors : row.vectors) {
    base::put_text(payload,
                   {reinterpret_cast<const char*>(vectors.data()), vectors.size() * sizeof(float)});
  }
  return payload;
}

std::string encode_delete(std::string_view id) {
  std::string payload;
  base::put_text(payload, id);
  return payload;
}

bool decode_put(std::string_view payload, Row& row, uint64_t& generation) {
  base::ByteReader reader(payload);
  generation = reader.varint();
  row.id = reader.text();
  row.content_hash = reader.u64();
  row.source = reader.text();
  row.passages = reader.text();
  row.metadata = reader.text();
  const uint64_t texts = reader.varint();
  for (uint64_t i = 0; i < texts && reader.ok(); ++i) {
    row.texts.emplace_back(reader.text());
  }
  const uint64_t fields = reader.varint();
  for (uint64_t i = 0; i < fields && reader.ok(); ++i) {
    const std::string_view bytes = reader.text();
    if (bytes.size() % sizeof(float) != 0) {
      return false;
    }
    std::vector<float> vectors(bytes.size() / sizeof(float));
    if (!bytes.empty()) {
      std::memcpy(vectors.data(), bytes.data(), bytes.size());
    }
    row.vectors.push_back(std::move(vectors));
  }
  return reader.ok() && reader.left() == 0;
}

bool decode_delete(std::string_view payload, std::string& id) {
  base::ByteReader reader(payload);
  id = reader.text();
  return reader.ok() && reader.left() == 0;
}

}  // namespace sibyl::store
