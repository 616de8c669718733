#include "answer/internal/passage_table.h"

#include "base/bytes.h"

namespace sibyl::answer::internal {
namespace {

constexpr uint64_t kVersion = 1;

}  // namespace

std::string pack_passages(const PassageTable& table) {
  std::string out;
  base::put_varint(out, kVersion);
  base::put_varint(out, table.headings.size());
  for (const std::vector<std::string>& path : table.headings) {
    base::put_varint(out, path.size());
    for (const std::string& heading : path) {
      base::put_text(out, heading);
    }
  }
  base::put_varint(out, table.passages.size());
  for (const Passage& passage : table.passages) {
    base::put_varint(out, passage.heading);
    base::put_varint(out, passage.range.begin);
    base::put_varint(out, passage.range.end - passage.range.begin);
  }
  return out;
}

Result<PassageTable> unpack_passages(std::string_view bytes, size_t text_bytes) {
  base::ByteReader reader(bytes);
  PassageTable table;
  if (const uint64_t version = reader.varint(); reader.ok() && version != kVersion) {
    return fail(Code::DataLoss, "passages: version {} is not known; {} is", version, kVersion);
  }
  // Each count is checked against the bytes left, so a lying one cannot reserve memory.
  const auto count = [&]() -> uint64_t {
    const uint64_t value = reader.varint();
    if (value > reader.left()) {
      reader.fail();
      return 0;
    }
    return value;
  };
  table.headings.resize(count());
  for (std::vector<std::string>& path : table.headings) {
    path.resize(count());
    for (std::string& heading : path) {
      heading = reader.text();
    }
    if (!reader.ok()) {
      break;
    }
  }
  table.passages.resize(count());
  for (Passage& passage : table.passages) {
    const uint64_t heading = reader.varint();
    const uint64_t begin = reader.varint();
    const uint64_t length = reader.varint();
    if (!reader.ok() || heading >= table.headings.size() || begin > text_bytes ||
        length > text_bytes - begin) {
      reader.fail();
      break;
    }
    passage = {{static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + length)},
               static_cast<uint32_t>(heading)};
  }
  if (!reader.ok() || reader.left() != 0 || table.passages.empty()) {
    return fail(Code::DataLoss, "passages: damaged at byte {} of {}", reader.position(),
                bytes.size());
  }
  return table;
}

}  // namespace sibyl::answer::internal
