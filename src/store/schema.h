#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sibyl::store {

/// A field of 1..n vectors a row, compared by inner product.
struct VectorField {
  std::string name;
  size_t dimension = 0;
  friend bool operator==(const VectorField&, const VectorField&) = default;
};

/// What a collection's rows hold. Text fields are analysed in `language` and have postings.
struct Schema {
  std::string language = "en";
  std::vector<std::string> text_fields;    ///< fixed when the collection is created
  std::vector<VectorField> vector_fields;  ///< of the current generation
  uint64_t generation = 0;                 ///< counts model switches
  std::string model;       ///< reference of the model that made the vectors, or empty
  bool unique_ids = true;  ///< false: an id may stand on several rows
};

}  // namespace sibyl::store
