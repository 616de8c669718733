#pragma once

#include "index/internal/graph_index.h"

namespace sibyl::index {

/// One search of a graph.
struct GraphIndex::Request {
  std::span<const float> query;
  size_t wanted = 0;  ///< Rows, at most as many as are allowed.
  const RowSet* allowed = nullptr;
  size_t allowed_rows = 0;
  FilterRegime regime = FilterRegime::Chosen;
};

}  // namespace sibyl::index
