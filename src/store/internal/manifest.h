#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "store/schema.h"

namespace sibyl::store {

inline constexpr std::string_view kManifestName = "MANIFEST";
inline constexpr uint64_t kManifestBytesMax = uint64_t{1} << 30;
inline constexpr size_t kFieldsMax = 64;

// Kinds of files that a manifest names.
inline constexpr std::string_view kRowsKind = "rows";
inline constexpr std::string_view kPostingsKind = "postings";
inline constexpr std::string_view kExactKind = "exact";
inline constexpr std::string_view kFlatKind = "flat";
inline constexpr std::string_view kGraphKind = "graph";

struct ManifestSegment {
  uint64_t number = 0;
  uint32_t rows = 0;
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  std::vector<uint32_t> dead;  ///< rows that are no more, ascending
};

/// A file and the segments that it covers, one or several laid end to end.
struct ManifestFile {
  std::string kind;
  uint64_t field = 0;
  uint64_t generation = 0;
  std::vector<uint64_t> segments;
  std::string name;
  uint64_t bytes = 0;
};

/// The one truth about a collection (docs/formats/manifest.md).
struct Manifest {
  Schema schema;
  std::string settings;
  uint64_t sealed_sequence = 0;  ///< every change up to it is in the segments
  uint64_t first_log = 0;        ///< logs of this number and later are replayed
  uint64_t next_number = 1;      ///< of files
  std::vector<ManifestSegment> segments;
  std::vector<ManifestFile> files;
};

std::string encode_manifest(const Manifest& manifest);
/// DataLoss with the path.
Result<Manifest> decode_manifest(std::string_view bytes, const std::string& path);

}  // namespace sibyl::store
