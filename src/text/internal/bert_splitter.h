#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/internal/token_sink.h"
#include "text/utf8.h"

namespace sibyl::text {

struct BertOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

/// BertNormalizer and BertPreTokenizer in one pass: what each code point becomes is worked out once
/// for a page of 256 and then looked up. Thread-safe.
class BertSplitter {
 public:
  explicit BertSplitter(const BertOptions& options);
  ~BertSplitter();
  BertSplitter(const BertSplitter&) = delete;
  BertSplitter& operator=(const BertSplitter&) = delete;

  /// Calls on_word(const WordBuffer&) for each word and sign; stops when it returns false.
  template <class OnWord>
  void split(std::string_view text, uint32_t base, bool offsets, OnWord on_word) const {
    WordBuffer word;
    MarkRun run;
    const auto flush = [&word, &run, &on_word] {
      const bool go_on = word.bytes.empty() || on_word(std::as_const(word));
      word.clear();
      run.end = SIZE_MAX;
      return go_on;
    };
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      const Found found = look_up(text, at);
      const uint32_t from = base + static_cast<uint32_t>(begin);
      const uint32_t to = base + static_cast<uint32_t>(at);
      switch (found.kind) {
        case Kind::Word:
          append(found.bytes, from, to, offsets, word);
          break;
        case Kind::Dropped:
          break;
        case Kind::Space:
          if (!flush()) {
            return;
          }
          break;
        case Kind::Alone:
          if (!flush()) {
            return;
          }
          append(found.bytes, from, to, offsets, word);
          if (!flush()) {
            return;
          }
          break;
        case Kind::Mixed:
          if (!split_mixed(found.bytes, from, to, offsets, run, word, flush)) {
            return;
          }
          break;
      }
    }
    flush();
  }

  /// Appends the normalised text (without splitting) and the origin of each byte if wanted.
  void normalize(std::string_view text, uint32_t base, bool offsets, WordBuffer& out) const;

 private:
  enum class Kind : uint8_t { Word, Dropped, Space, Alone, Mixed };
  struct Entry {
    Kind kind = Kind::Dropped;
    bool ideograph = false;
    uint8_t length = 0;   // bytes of the result
    uint16_t offset = 0;  // in the page's pool
  };
  struct Page {
    std::array<Entry, 256> entries;
    std::string pool;
  };

  /// Puts a mark where canonical order wants it among the marks before it.
  struct MarkRun {
    std::vector<std::pair<int, size_t>> marks;  // class and start in the buffer
    size_t end = SIZE_MAX;                      // size of the buffer after the last mark
  };

  struct Found {
    Kind kind;
    bool ideograph;
    std::string_view bytes;
  };

  Found look_up(std::string_view text, size_t& at) const {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      ++at;
      const Entry& entry = ascii_.entries[byte];
      return {entry.kind, false, {ascii_.pool.data() + entry.offset, entry.length}};
    }
    const char32_t code_point = next_code_point(text, at);
    const Page& found = page(code_point);
    const Entry& entry = found.entries[code_point & 0xFF];
    return {entry.kind, entry.ideograph, {found.pool.data() + entry.offset, entry.length}};
  }

  /// A code point whose parts differ in kind, or leave marks to be put in order.
  template <class Flush>
  bool split_mixed(std::string_view bytes, uint32_t from, uint32_t to, bool offsets, MarkRun& run,
                   WordBuffer& word, Flush& flush) const {
    for (size_t at = 0; at < bytes.size();) {
      const size_t begin = at;
      const char32_t part = next_code_point(bytes, at);
      const std::string_view piece = bytes.substr(begin, at - begin);
      const Kind kind = kind_of(part);
      if (kind == Kind::Word) {
        append_part(part, piece, from, to, offsets, run, word);
        continue;
      }
      if (!flush()) {
        return false;
      }
      if (kind == Kind::Alone) {
        append(piece, from, to, offsets, word);
        if (!flush()) {
          return false;
        }
      }
    }
    return true;
  }

  const Page& page(char32_t code_point) const;
  std::unique_ptr<Page> build_page(char32_t first) const;
  void describe(char32_t code_point, Page& page, Entry& entry) const;
  static Kind kind_of(char32_t code_point);
  static void append(std::string_view bytes, uint32_t begin, uint32_t end, bool offsets,
                     WordBuffer& word) {
    word.bytes.append(bytes);
    if (offsets) {
      word.begins.insert(word.begins.end(), bytes.size(), begin);
      word.ends.insert(word.ends.end(), bytes.size(), end);
    }
  }
  void append_part(char32_t part, std::string_view bytes, uint32_t begin, uint32_t end,
                   bool offsets, MarkRun& run, WordBuffer& word) const;

  BertOptions options_;
  Page ascii_;
  mutable std::array<std::atomic<const Page*>, 0x1100> pages_{};
};

}  // namespace sibyl::text
