#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sibyl::text {

/// Byte strings to numbers as a double array: a step is one addition and one comparison. Immutable.
/// Invariant: units_[base of node + byte + 1].check == node for every child.
class Trie {
 public:
  using Node = uint32_t;
  static constexpr Node kNone = UINT32_MAX;
  static constexpr Node kRoot = 0;

  Trie() = default;
  /// Entries in any order; of equal keys the greatest value counts. Values are >= 0, keys not
  /// empty.
  explicit Trie(std::vector<std::pair<std::string_view, int32_t>> entries);

  /// The node below, or kNone.
  Node child(Node node, char byte) const {
    const uint32_t at = units_[node].base + static_cast<unsigned char>(byte) + 1;
    return units_[at].check == node ? at : kNone;
  }
  /// Value of the key that ends at the node, -1 when none does.
  int32_t value(Node node) const { return units_[node].value; }
  /// The node that `key` leads to, or kNone.
  Node walk(std::string_view key) const;
  /// Value of `key`, or -1.
  int32_t find(std::string_view key) const;

 private:
  struct Unit {
    uint32_t base = 0;
    uint32_t check = kNone;
    int32_t value = -1;
  };
  struct Builder;

  std::vector<Unit> units_ = std::vector<Unit>(258);
};

}  // namespace sibyl::text
