#include "text/sentences.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

// Before a full stop these do not end a sentence (lower case, dots inside kept). "etc." is not
// here: what follows decides, by its first letter.
constexpr std::string_view kAbbreviations[] = {
    "abb",  "approx", "art",  "aug", "bd",  "bzw", "ca",   "capt", "cf",  "co",  "col",  "corp",
    "d.h",  "dec",    "dept", "dr",  "e.g", "ed",  "eds",  "eq",   "esp", "est", "evtl", "exp",
    "feb",  "fig",    "figs", "gen", "ggf", "gov", "hon",  "hr",   "i.e", "inc", "jan",  "jr",
    "lt",   "ltd",    "max",  "min", "mme", "mr",  "mrs",  "ms",   "mt",  "nov", "nr",   "oct",
    "p.ex", "pp",     "prof", "ref", "rev", "sen", "sept", "sgt",  "sog", "sra", "st",   "str",
    "u.a",  "vgl",    "viz",  "vol", "vs",  "z.b", "zzgl"};

bool is_plain_end(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == 0x2026;
}

/// Ends that need no space behind them: ideographic and full-width stops, danda.
bool is_full_width_end(char32_t c) {
  return c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0xFF0E || c == 0xFF61 || c == 0x0964 ||
         c == 0x0965;
}

bool is_closing(char32_t c) {
  return c == '"' || c == '\'' || c == ')' || c == ']' || c == '}' || c == 0xBB || c == 0x2019 ||
         c == 0x201D || c == 0x300D || c == 0x300F || c == 0xFF09 || c == 0x3011;
}

/// The word or dotted abbreviation that ends before `end`, at most 12 bytes of it, in lower case.
std::string word_before(std::string_view text, size_t begin, size_t end) {
  size_t at = end;
  while (at > begin && end - at < 12) {
    const auto byte = static_cast<unsigned char>(text[at - 1]);
    if (byte < 0x80 && !is_word(byte) && byte != '.') {
      break;
    }
    --at;
  }
  std::string word(text.substr(at, end - at));
  std::transform(word.begin(), word.end(), word.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
  });
  return word;
}

bool all_digits(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](char byte) { return byte >= '0' && byte <= '9'; });
}

/// Whether the full stop at `dot` belongs to its word: "Dr.", "J.", a number that opens the
/// sentence.
bool stop_belongs_to_word(std::string_view text, size_t sentence, size_t dot) {
  const std::string word = word_before(text, sentence, dot);
  if (std::binary_search(std::begin(kAbbreviations), std::end(kAbbreviations),
                         std::string_view(word))) {
    return true;
  }
  if (word.size() == 1 && word != "i" && dot > sentence && text[dot - 1] >= 'A' &&
      text[dot - 1] <= 'Z') {
    return true;  // an initial
  }
  return all_digits(word) && dot - word.size() == sentence;  // "1. First of a list"
}

/// Whether a line starts with a bullet or a number and so opens a list item.
bool opens_list_item(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) {
    ++at;
  }
  line.remove_prefix(at);
  const auto followed_by_space = [&line](size_t position) {
    return position < line.size() && (line[position] == ' ' || line[position] == '\t');
  };
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) {
    return true;
  }
  for (const std::string_view bullet : {"\u2022", "\u2023", "\u25AA", "\u25CF", "\u2013 "}) {
    if (line.starts_with(bullet)) {
      return true;
    }
  }
  size_t digits = 0;
  while (digits < line.size() && digits < 4 && line[digits] >= '0' && line[digits] <= '9') {
    ++digits;
  }
  return digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')') &&
         followed_by_space(digits + 1);
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Range> run() {
    size_t at = 0;
    while (at < text_.size()) {
      const size_t begin = at;
      const char32_t c = next_code_point(text_, at);
      if (is_space(c)) {
        at = skip_space(begin);
        continue;
      }
      if (sentence_ == kNone) {
        sentence_ = begin;
      }
      end_ = at;
      if (is_full_width_end(c)) {
        take_closing(at);
        close();
      } else if (is_plain_end(c) && ends_here(c, begin, at)) {
        close();
      }
    }
    close();
    return std::move(out_);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  /// Goes over white space; a blank line or a list item behind it closes the sentence.
  size_t skip_space(size_t at) {
    size_t lines = 0;
    size_t line_start = at;
    while (at < text_.size()) {
      size_t next = at;
      const char32_t c = next_code_point(text_, next);
      if (!is_space(c)) {
        break;
      }
      at = next;
      if (c == '\n' || c == 0x2028 || c == 0x2029 || c == '\f') {
        lines += c == '\n' || c == 0x2028 ? 1 : 2;
        line_start = at;
      }
    }
    if (lines >= 2 || (lines == 1 && opens_list_item(text_.substr(line_start, 32)))) {
      close();
    }
    return at;
  }

  void take_closing(size_t& at) {
    while (at < text_.size()) {
      size_t next = at;
      const char32_t c = next_code_point(text_, next);
      if (!is_closing(c) && !is_plain_end(c) && !is_full_width_end(c)) {
        break;
      }
      at = next;
      end_ = at;
    }
  }

  /// Whether the sign at `begin` ends the sentence; then `at` moves past what closes with it.
  bool ends_here(char32_t sign, size_t begin, size_t& at) {
    if (sign == '.' && stop_belongs_to_word(text_, sentence_, begin)) {
      return false;
    }
    size_t after = at;
    while (after < text_.size()) {
      size_t next = after;
      const char32_t c = next_code_point(text_, next);
      if (!is_closing(c) && !is_plain_end(c)) {
        break;
      }
      after = next;
    }
    if (after < text_.size()) {
      size_t next = after;
      if (!is_space(next_code_point(text_, next))) {
        return false;
      }
      if (sign == '.' && next_is_lower(next)) {
        return false;
      }
    }
    at = after;
    end_ = after;
    return true;
  }

  bool next_is_lower(size_t at) const {
    while (at < text_.size()) {
      const char32_t c = next_code_point(text_, at);
      if (!is_space(c)) {
        return is_lower(c);
      }
    }
    return false;
  }

  void close() {
    if (sentence_ != kNone) {
      out_.push_back({static_cast<uint32_t>(sentence_), static_cast<uint32_t>(end_)});
    }
    sentence_ = kNone;
  }

  std::string_view text_;
  std::vector<Range> out_;
  size_t sentence_ = kNone;  // where the open sentence starts
  size_t end_ = 0;           // behind its last byte that is not white space
};

}  // namespace

std::vector<Range> split_sentences(std::string_view text) {
  return Splitter(text).run();
}

}  // namespace sibyl::text
