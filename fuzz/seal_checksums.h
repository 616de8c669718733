#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "index/checked_file.h"

namespace sibyl::fuzz {

inline void put_at(std::string& bytes, size_t at, uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

/// Makes the checksums of a container fit what was changed, so that the readers behind them are
/// reached. Leaves alone what has no header or no room for the table.
inline void seal_checksums(std::string& bytes) {
  constexpr size_t kHeader = 32;
  constexpr size_t kEntry = 24;
  if (bytes.size() < kHeader) {
    return;
  }
  base::ByteReader reader(bytes);
  reader.skip(12);
  const uint64_t table = uint64_t{reader.u32()} * kEntry;
  const uint64_t end = reader.u64();
  const uint64_t blocks = (end + index::kCheckedFileBlockBytes - 1) / index::kCheckedFileBlockBytes;
  if (table > bytes.size() - kHeader || end > bytes.size() || end < kHeader + table ||
      blocks * 4 + 4 > bytes.size() - end) {
    return;
  }
  bytes.resize(end + blocks * 4 + 4);
  const std::string_view view = bytes;
  put_at(bytes, kHeader - 4,
         base::crc32(view.substr(kHeader, table), base::crc32(view.substr(0, kHeader - 4))));
  for (uint64_t block = 0; block < blocks; ++block) {
    const uint64_t begin = block * index::kCheckedFileBlockBytes;
    put_at(bytes, end + block * 4,
           base::crc32(
               view.substr(begin, std::min<uint64_t>(index::kCheckedFileBlockBytes, end - begin))));
  }
  put_at(bytes, end + blocks * 4, base::crc32(view.substr(end, blocks * 4)));
}

}  // namespace sibyl::fuzz
