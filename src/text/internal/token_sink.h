#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace sibyl::text {

/// A normalised word on its way to tokens, with the original bytes that each of its bytes stands
/// for (only when offsets are wanted).
struct WordBuffer {
  std::string bytes;
  std::vector<uint32_t> begins;
  std::vector<uint32_t> ends;

  void clear() {
    bytes.clear();
    begins.clear();
    ends.clear();
  }
};

/// Takes the tokens of a text up to a limit; `full` says that more came, so that reading can stop.
class TokenSink {
 public:
  TokenSink(Tokens& out, size_t limit, bool offsets)
      : out_(out), limit_(limit), offsets_(offsets) {}

  bool offsets() const { return offsets_; }
  bool full() const { return out_.truncated; }
  void add(int32_t id, uint32_t begin, uint32_t end) {
    if (out_.ids.size() >= limit_) {
      out_.truncated = true;
      return;
    }
    out_.ids.push_back(id);
    if (offsets_) {
      out_.begins.push_back(begin);
      out_.ends.push_back(end);
    }
  }
  /// A token for bytes [begin, end) of the word.
  void add(int32_t id, const WordBuffer& word, size_t begin, size_t end) {
    if (offsets_) {
      add(id, word.begins[begin], word.ends[end - 1]);
    } else {
      add(id, 0, 0);
    }
  }

 private:
  Tokens& out_;
  size_t limit_;
  bool offsets_;
};

/// Turns a normalised word, bytes [begin, end) of a buffer, into tokens. Immutable, thread-safe.
class PieceModel {
 public:
  virtual ~PieceModel() = default;
  virtual void encode(const WordBuffer& text, size_t begin, size_t end, TokenSink& sink) const = 0;
};

/// Tokens of a stretch of text that holds no added token. `base` is its place in the original.
class SegmentEncoder {
 public:
  virtual ~SegmentEncoder() = default;
  virtual void encode(std::string_view segment, uint32_t base, TokenSink& sink) const = 0;
};

}  // namespace sibyl::text
