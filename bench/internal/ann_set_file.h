#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "index/row_set.h"
#include "index/vector_index.h"
#include "internal/ann_options.h"

namespace sibyl::bench {

/// Vectors, questions and the true answers.
struct Set {
  size_t count = 0;
  size_t dimension = 0;
  size_t queries = 0;
  std::vector<float> query_vectors;
  std::vector<std::set<uint32_t>> nearest;
  std::shared_ptr<const index::VectorIndex> vectors;

  std::span<const float> query(size_t i) const {
    return std::span(query_vectors).subspan(i * dimension, dimension);
  }
};

Set read_set(const std::string& path);

}  // namespace sibyl::bench
