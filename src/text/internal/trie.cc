#include "text/internal/trie.h"

#include <algorithm>

namespace sibyl::text {

/// Places the nodes breadth first, so that depth costs memory and not stack.
struct Trie::Builder {
  using Entries = std::vector<std::pair<std::string_view, int32_t>>;
  struct Open {
    size_t begin;  // entries that share the node's prefix
    size_t end;
    size_t depth;
    Node node;
  };

  static constexpr size_t kReach = 257;  // farthest unit from a base
  // A search that meets so many taken places gives up on the crowded part of the array.
  static constexpr int kTriesMax = 48;

  const Entries& entries;
  std::vector<Unit>& units;
  size_t first_free = 1;

  bool is_free(size_t at) const { return at >= units.size() || units[at].check == kNone; }

  /// A base at which all bytes fit. `bytes` are ascending.
  uint32_t find_base(const std::vector<unsigned char>& bytes) {
    int tries = 0;
    for (size_t at = std::max<size_t>(first_free, bytes.front() + 1u);; ++at) {
      if (!is_free(at)) {
        continue;
      }
      const size_t base = at - bytes.front() - 1;
      const bool fits = std::all_of(bytes.begin(), bytes.end(), [this, base](unsigned char byte) {
        return is_free(base + byte + 1u);
      });
      if (fits) {
        return static_cast<uint32_t>(base);
      }
      if (++tries == kTriesMax) {
        first_free = at;
        tries = 0;
      }
    }
  }

  void place(const Open& open, std::vector<Open>& next) {
    size_t begin = open.begin;
    if (entries[begin].first.size() == open.depth) {
      units[open.node].value = entries[begin].second;
      while (begin < open.end && entries[begin].first.size() == open.depth) {
        ++begin;
      }
    }
    std::vector<unsigned char> bytes;
    std::vector<Open> children;
    while (begin < open.end) {
      const char byte = entries[begin].first[open.depth];
      size_t end = begin;
      while (end < open.end && entries[end].first[open.depth] == byte) {
        ++end;
      }
      bytes.push_back(static_cast<unsigned char>(byte));
      children.push_back({begin, end, open.depth + 1, 0});
      begin = end;
    }
    if (bytes.empty()) {
      return;
    }
    const uint32_t base = find_base(bytes);
    units.resize(std::max<size_t>(units.size(), base + kReach + 1));
    units[open.node].base = base;
    for (size_t i = 0; i < bytes.size(); ++i) {
      children[i].node = base + bytes[i] + 1;
      units[children[i].node].check = open.node;
      next.push_back(children[i]);
    }
    while (!is_free(first_free)) {
      ++first_free;
    }
  }
};

Trie::Trie(std::vector<std::pair<std::string_view, int32_t>> entries) {
  std::erase_if(entries, [](const auto& entry) { return entry.first.empty(); });
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  if (entries.empty()) {
    return;
  }
  Builder builder{entries, units_};
  std::vector<Builder::Open> level = {{0, entries.size(), 0, kRoot}};
  while (!level.empty()) {
    std::vector<Builder::Open> next;
    for (const Builder::Open& open : level) {
      builder.place(open, next);
    }
    level = std::move(next);
  }
  units_.shrink_to_fit();
}

Trie::Node Trie::walk(std::string_view key) const {
  Node node = kRoot;
  for (const char byte : key) {
    node = child(node, byte);
    if (node == kNone) {
      return kNone;
    }
  }
  return node;
}

int32_t Trie::find(std::string_view key) const {
  const Node node = key.empty() ? kNone : walk(key);
  return node == kNone ? -1 : value(node);
}

}  // namespace sibyl::text
