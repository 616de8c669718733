#include "text/internal/trie.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace sibyl::text {
namespace {

TEST(Trie, FindsWhatAMapFinds) {
  std::mt19937 random(9);
  std::map<std::string, int32_t> known;
  for (int i = 0; i < 5000; ++i) {
    std::string key;
    for (size_t length = 1 + random() % 8; length > 0; --length) {
      key += static_cast<char>(random() % (i % 2 == 0 ? 4 : 256));
    }
    known.emplace(key, i);
  }
  const Trie trie({known.begin(), known.end()});
  for (const auto& [key, value] : known) {
    ASSERT_EQ(trie.find(key), value);
    const std::string longer = key + "\x01";
    EXPECT_EQ(trie.find(longer), known.contains(longer) ? known[longer] : -1);
    const std::string shorter = key.substr(0, key.size() - 1);
    EXPECT_EQ(trie.find(shorter), known.contains(shorter) ? known[shorter] : -1);
  }
}

TEST(Trie, EmptyOneFindsNothing) {
  const Trie trie;
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(trie.child(Trie::kRoot, static_cast<char>(byte)), Trie::kNone);
  }
  EXPECT_EQ(trie.find(""), -1);
  const Trie one({{"", 3}, {"a", 1}, {"a", 2}});
  EXPECT_EQ(one.find("a"), 2) << "of equal keys the greatest value counts";
  EXPECT_EQ(one.find(""), -1);
}

}  // namespace
}  // namespace sibyl::text
