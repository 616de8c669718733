#include "text/internal/added_tokens.h"

#include <algorithm>

#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

bool starts_with_word(std::string_view text) {
  size_t position = 0;
  if (text.empty()) {
    return false;
  }
  const char32_t c = next_code_point(text, position);
  return is_word(c) || is_mark(c);
}

/// Start of the last code point of a text that is not empty.
size_t last_start(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
    --at;
  }
  return at;
}

bool ends_with_word(std::string_view text) {
  return !text.empty() && starts_with_word(text.substr(last_start(text)));
}

size_t without_trailing_space(std::string_view text) {
  while (!text.empty()) {
    const size_t start = last_start(text);
    size_t position = start;
    if (!is_space(next_code_point(text, position))) {
      break;
    }
    text = text.substr(0, start);
  }
  return text.size();
}

size_t leading_space(std::string_view text) {
  size_t end = 0;
  for (size_t position = 0; position < text.size();) {
    if (!is_space(next_code_point(text, position))) {
      break;
    }
    end = position;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::vector<std::pair<std::string_view, int32_t>> entries;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].content.empty()) {
      entries.emplace_back(tokens_[i].content, static_cast<int32_t>(i));
      starts_.set(static_cast<unsigned char>(tokens_[i].content.front()));
    }
  }
  trie_ = Trie(std::move(entries));
}

AddedTokens::Cut AddedTokens::find(std::string_view text, size_t from, size_t floor) const {
  if (starts_.none()) {
    return {text.size(), text.size(), -1};
  }
  for (size_t at = from; at < text.size(); ++at) {
    if (!starts_[static_cast<unsigned char>(text[at])]) {
      continue;
    }
    int32_t best = -1;
    size_t end = at;
    Trie::Node node = Trie::kRoot;
    for (size_t i = at; i < text.size(); ++i) {
      node = trie_.child(node, text[i]);
      if (node == Trie::kNone) {
        break;
      }
      if (trie_.value(node) >= 0) {
        best = trie_.value(node);
        end = i + 1;
      }
    }
    if (best < 0) {
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(best)];
    if (token.single_word &&
        (ends_with_word(text.substr(0, at)) || starts_with_word(text.substr(end)))) {
      at = end - 1;  // the library goes on behind a refused match, too
      continue;
    }
    const size_t begin =
        token.lstrip ? std::max(floor, without_trailing_space(text.substr(0, at))) : at;
    return {begin, token.rstrip ? end + leading_space(text.substr(end)) : end, token.id};
  }
  return {text.size(), text.size(), -1};
}

}  // namespace sibyl::text
