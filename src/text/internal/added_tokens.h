#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/internal/trie.h"

namespace sibyl::text {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
};

/// Cuts literal tokens such as "[SEP]" out of a text, the longest at the leftmost place. Immutable.
class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);

  struct Cut {
    size_t begin = 0;  ///< with the white space that the token takes along
    size_t end = 0;
    int32_t id = -1;  ///< -1: none was found, begin = end = size of the text
  };
  /// The first token at or after `from`. White space taken to the left stops at `floor`.
  Cut find(std::string_view text, size_t from, size_t floor) const;
  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<AddedToken> tokens_;
  Trie trie_;
  std::bitset<256> starts_;
};

}  // namespace sibyl::text
