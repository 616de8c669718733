#pragma once

#include <cstdint>
#include <string_view>

namespace sibyl::index {

// Sections of a vector file, docs/formats/vectors.md.
inline constexpr std::string_view kVectorMagic = "SIBYLVEC";
inline constexpr uint32_t kVectorVersion = 1;
inline constexpr uint32_t kVectorMeta = 1;
inline constexpr uint32_t kVectorFirst = 2;
inline constexpr uint32_t kVectorData = 3;

struct VectorMeta {
  uint64_t rows = 0;
  uint64_t vectors = 0;
  uint32_t dimension = 0;
  uint32_t element = 0;  ///< 0: float32
};
inline constexpr size_t kVectorDimensionMax = 32768;

}  // namespace sibyl::index
