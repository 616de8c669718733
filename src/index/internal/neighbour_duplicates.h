#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/neighbour_space.h"

namespace sibyl::index {

/// Nodes with equal vectors. A graph is built over one of each, the representative, since equal
/// ones would be each other's only neighbours; the others hang below it as a tree.
struct NeighbourDuplicates {
  static constexpr size_t kChildrenMax = 4;

  std::vector<uint32_t> distinct;   ///< Representatives, ascending.
  std::vector<uint32_t> repeated;   ///< All nodes of classes of at least two, class by class.
  std::vector<size_t> class_first;  ///< Class i is repeated[class_first[i], class_first[i + 1]).

  size_t classes() const { return class_first.size() - 1; }
  /// The first is the representative.
  std::span<const uint32_t> of(size_t i) const {
    return std::span(repeated).subspan(class_first[i], class_first[i + 1] - class_first[i]);
  }
};

/// The representative is the lowest node of its class.
NeighbourDuplicates find_duplicates(const NeighbourSpace& space);

}  // namespace sibyl::index
