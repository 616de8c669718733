#include "store/internal/manifest.h"

#include <algorithm>

#include "base/bytes.h"
#include "index/checked_file.h"

namespace sibyl::store {
namespace {

constexpr std::string_view kMagic = "SIBYLMAN";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 24;

void put_schema(std::string& out, const Schema& schema) {
  base::put_text(out, schema.language);
  base::put_varint(out, schema.text_fields.size());
  for (const std::string& field : schema.text_fields) {
    base::put_text(out, field);
  }
  base::put_varint(out, schema.vector_fields.size());
  for (const VectorField& field : schema.vector_fields) {
    base::put_text(out, field.name);
    base::put_varint(out, field.dimension);
  }
  base::put_varint(out, schema.generation);
  base::put_text(out, schema.model);
  out.push_back(schema.unique_ids ? 1 : 0);
}

void put_segment(std::string& out, const ManifestSegment& segment) {
  base::put_varint(out, segment.number);
  base::put_varint(out, segment.rows);
  base::put_varint(out, segment.first_sequence);
  base::put_varint(out, segment.last_sequence);
  base::put_varint(out, segment.dead.size());
  uint32_t next = 0;
  for (const uint32_t row : segment.dead) {
    base::put_varint(out, row - next);
    next = row + 1;
  }
}

void put_file(std::string& out, const ManifestFile& file) {
  base::put_text(out, file.kind);
  base::put_varint(out, file.field);
  base::put_varint(out, file.generation);
  base::put_varint(out, file.segments.size());
  for (const uint64_t segment : file.segments) {
    base::put_varint(out, segment);
  }
  base::put_text(out, file.name);
  base::put_varint(out, file.bytes);
}

/// Each entry has at least one byte, which bounds a count before anything is reserved.
uint64_t read_count(base::ByteReader& reader) {
  const uint64_t count = reader.varint();
  if (count > reader.left()) {
    reader.fail();
    return 0;
  }
  return count;
}

Schema read_schema(base::ByteReader& reader) {
  Schema schema;
  schema.language = reader.text();
  for (uint64_t left = read_count(reader); left > 0 && reader.ok(); --left) {
    schema.text_fields.emplace_back(reader.text());
  }
  for (uint64_t left = read_count(reader); left > 0 && reader.ok(); --left) {
    VectorField field;
    field.name = reader.text();
    field.dimension = reader.varint();
    schema.vector_fields.push_back(std::move(field));
  }
  schema.generation = reader.varint();
  schema.model = reader.text();
  schema.unique_ids = reader.u8() != 0;
  return schema;
}

ManifestSegment read_segment(base::ByteReader& reader) {
  ManifestSegment segment;
  segment.number = reader.varint();
  const uint64_t rows = reader.varint();
  segment.first_sequence = reader.varint();
  segment.last_sequence = reader.varint();
  if (rows == 0 || rows >= UINT32_MAX) {
    reader.fail();
    return segment;
  }
  segment.rows = static_cast<uint32_t>(rows);
  uint64_t next = 0;
  for (uint64_t left = read_count(reader); left > 0 && reader.ok(); --left) {
    const uint64_t row = next + reader.varint();
    if (row < next || row >= rows) {
      reader.fail();
      return segment;
    }
    segment.dead.push_back(static_cast<uint32_t>(row));
    next = row + 1;
  }
  return segment;
}

ManifestFile read_file_entry(base::ByteReader& reader) {
  ManifestFile file;
  file.kind = reader.text();
  file.field = reader.varint();
  file.generation = reader.varint();
  for (uint64_t left = read_count(reader); left > 0 && reader.ok(); --left) {
    file.segments.push_back(reader.varint());
  }
  file.name = reader.text();
  file.bytes = reader.varint();
  return file;
}

/// The name of what cannot be, or empty.
std::string_view find_fault(const Manifest& manifest) {
  if (manifest.schema.text_fields.size() > kFieldsMax ||
      manifest.schema.vector_fields.size() > kFieldsMax) {
    return "it has more fields than can be";
  }
  for (size_t i = 0; i < manifest.segments.size(); ++i) {
    const ManifestSegment& segment = manifest.segments[i];
    if (segment.first_sequence > segment.last_sequence ||
        segment.last_sequence > manifest.sealed_sequence ||
        (i > 0 && segment.first_sequence <= manifest.segments[i - 1].last_sequence)) {
      return "the sequences of its segments do not ascend";
    }
  }
  for (const ManifestFile& file : manifest.files) {
    if (file.name.empty() || file.name.front() == '.' || file.name.find('/') != std::string::npos ||
        file.name.find('\0') != std::string::npos) {
      return "it names a file outside of its folder";
    }
    for (const uint64_t number : file.segments) {
      if (std::none_of(manifest.segments.begin(), manifest.segments.end(),
                       [number](const ManifestSegment& s) { return s.number == number; })) {
        return "a file covers a segment that is not listed";
      }
    }
  }
  return {};
}

}  // namespace

std::string encode_manifest(const Manifest& manifest) {
  std::string body;
  put_schema(body, manifest.schema);
  base::put_text(body, manifest.settings);
  base::put_varint(body, manifest.sealed_sequence);
  base::put_varint(body, manifest.first_log);
  base::put_varint(body, manifest.next_number);
  base::put_varint(body, manifest.segments.size());
  for (const ManifestSegment& segment : manifest.segments) {
    put_segment(body, segment);
  }
  base::put_varint(body, manifest.files.size());
  for (const ManifestFile& file : manifest.files) {
    put_file(body, file);
  }
  std::string bytes(kMagic);
  base::put_u32(bytes, kVersion);
  base::put_u64(bytes, body.size());
  base::put_u32(bytes, base::crc32(body, base::crc32(bytes)));
  return bytes + body;
}

Result<Manifest> decode_manifest(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) {
    return index::damaged(path, "it does not start as a manifest");
  }
  base::ByteReader reader(bytes);
  reader.skip(kMagic.size());
  const uint32_t version = reader.u32();
  const uint64_t body_bytes = reader.u64();
  const uint32_t checksum = reader.u32();
  const std::string_view body = bytes.substr(kHeaderBytes);
  if (body.size() != body_bytes ||
      checksum != base::crc32(body, base::crc32(bytes.substr(0, kHeaderBytes - 4)))) {
    return index::damaged(path, "its checksum does not match");
  }
  if (version != kVersion) {
    return fail(Code::FailedPrecondition,
                "{}: format version {} is not known to this program (it reads {}); use the program "
                "that wrote it",
                path, version, kVersion);
  }
  Manifest manifest;
  manifest.schema = read_schema(reader);
  manifest.settings = reader.text();
  manifest.sealed_sequence = reader.varint();
  manifest.first_log = reader.varint();
  manifest.next_number = reader.varint();
  for (uint64_t left = read_count(reader); left > 0 && reader.ok(); --left) {
    manifest.segments.push_back(read_segment(reader));
  }
  for (uint64_t left = read_count(reader); left > 0 && reader.ok(); --left) {
    manifest.files.push_back(read_file_entry(reader));
  }
  if (!reader.ok() || reader.left() != 0) {
    return index::damaged(path, "its contents do not decode");
  }
  if (const std::string_view fault = find_fault(manifest); !fault.empty()) {
    return index::damaged(path, fault);
  }
  return manifest;
}

}  // namespace sibyl::store
