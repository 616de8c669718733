#include "text/chunking.h"

#include <algorithm>

#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

// A run of letters without a tokenizer counts one token for so many.
constexpr size_t kLettersOfToken = 5;

/// A stretch that is not divided further: a sentence, or a part of one that is too long.
struct Unit {
  Range range;
  size_t tokens = 0;
};

/// Where tokens end, without a tokenizer: after 5 letters of a word, after a word, after a sign.
void count_letters(std::string_view text, std::vector<uint32_t>& ends) {
  size_t letters = 0;
  size_t word_end = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool word = is_word(c) || is_mark(c);
    if (letters > 0 && (!word || letters == kLettersOfToken)) {
      ends.push_back(static_cast<uint32_t>(word_end));
      letters = 0;
    }
    if (word) {
      ++letters;
      word_end = at;
    } else if (!is_space(c)) {
      ends.push_back(static_cast<uint32_t>(at));
    }
  }
  if (letters > 0) {
    ends.push_back(static_cast<uint32_t>(word_end));
  }
}

class Chunker {
 public:
  Chunker(std::string_view text, const Tokenizer* tokenizer, const ChunkOptions& options)
      : text_(text),
        tokenizer_(tokenizer),
        tokens_max_(std::max<size_t>(options.tokens, 1)),
        overlap_(std::min(options.overlap, tokens_max_ - 1)) {}

  void add_section(const Range& range, uint32_t section) {
    units_.clear();
    for (const Range& sentence :
         split_sentences(text_.substr(range.begin, range.end - range.begin))) {
      add_sentence({range.begin + sentence.begin, range.begin + sentence.end});
    }
    pack(section);
  }

  std::vector<Chunk> take() { return std::move(chunks_); }

 private:
  void find_ends(std::string_view sentence, std::vector<uint32_t>& ends) {
    ends.clear();
    if (tokenizer_ == nullptr) {
      count_letters(sentence, ends);
      return;
    }
    tokenizer_->tokenize(sentence, {.special_tokens = false, .offsets = true}, tokens_);
    ends.swap(tokens_.ends);
  }

  void add_sentence(const Range& range) {
    const std::string_view sentence = text_.substr(range.begin, range.end - range.begin);
    find_ends(sentence, ends_);
    if (ends_.size() <= tokens_max_) {
      units_.push_back({range, std::max<size_t>(ends_.size(), 1)});
      return;
    }
    // Parts of about the overlap, so that neighbours can share one.
    const size_t part = std::max<size_t>(1, std::min(std::max<size_t>(overlap_, 8), tokens_max_));
    uint32_t begin = range.begin;
    for (size_t first = 0; first < ends_.size();) {
      const size_t last = cut_at_space(sentence, first, std::min(first + part, ends_.size()));
      const uint32_t end = last == ends_.size() ? range.end : range.begin + ends_[last - 1];
      if (end > begin) {
        units_.push_back({{begin, end}, last - first});
        begin = end;
      } else if (!units_.empty()) {
        units_.back().tokens += last - first;  // several tokens of one character
      }
      first = last;
    }
  }

  /// The number of tokens after which to cut: at white space in the second half of the part, else
  /// at its end.
  size_t cut_at_space(std::string_view sentence, size_t first, size_t last) const {
    if (last == ends_.size()) {
      return last;
    }
    for (size_t i = last; i > first + (last - first) / 2; --i) {
      size_t at = ends_[i - 1];
      if (at < sentence.size() && is_space(next_code_point(sentence, at))) {
        return i;
      }
    }
    return last;
  }

  void pack(uint32_t section) {
    for (size_t first = 0; first < units_.size();) {
      size_t tokens = units_[first].tokens;
      size_t last = first + 1;
      while (last < units_.size() && tokens + units_[last].tokens <= tokens_max_) {
        tokens += units_[last].tokens;
        ++last;
      }
      push({units_[first].range.begin, units_[last - 1].range.end}, section);
      if (last == units_.size()) {
        break;
      }
      first = step_back(first, last);
    }
  }

  /// The first unit of the next chunk: as many of the last ones as the overlap holds, provided that
  /// the unit that did not fit then fits.
  size_t step_back(size_t first, size_t last) const {
    size_t start = last;
    size_t shared = 0;
    while (start > first + 1 && shared + units_[start - 1].tokens <= overlap_ &&
           shared + units_[start - 1].tokens + units_[last].tokens <= tokens_max_) {
      shared += units_[--start].tokens;
    }
    return start;
  }

  void push(Range range, uint32_t section) {
    while (range.begin < range.end) {
      size_t at = range.begin;
      if (!is_space(next_code_point(text_, at))) {
        break;
      }
      range.begin = static_cast<uint32_t>(at);
    }
    if (range.begin < range.end) {
      chunks_.push_back({range, section});
    }
  }

  std::string_view text_;
  const Tokenizer* tokenizer_;
  size_t tokens_max_;
  size_t overlap_;
  std::vector<Unit> units_;
  std::vector<uint32_t> ends_;
  Tokens tokens_;
  std::vector<Chunk> chunks_;
};

}  // namespace

std::vector<Chunk> chunk_text(std::string_view text, const std::vector<Section>& sections,
                              const Tokenizer* tokenizer, const ChunkOptions& options) {
  Chunker chunker(text, tokenizer, options);
  const auto size = static_cast<uint32_t>(std::min<size_t>(text.size(), UINT32_MAX));
  if (sections.empty()) {
    chunker.add_section({0, size}, 0);
  }
  for (size_t i = 0; i < sections.size(); ++i) {
    const uint32_t end = std::min(sections[i].range.end, size);
    chunker.add_section({std::min(sections[i].range.begin, end), end}, static_cast<uint32_t>(i));
  }
  return chunker.take();
}

}  // namespace sibyl::text
