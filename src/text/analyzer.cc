#include "text/analyzer.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "text/internal/compose.h"
#include "text/internal/languages.h"
#include "text/internal/stemmer.h"
#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

// A longer run of letters is no word (base64, DNA); its start is kept as the term.
constexpr size_t kTermBytesMax = 255;

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};
using Words = std::unordered_set<std::string, Hash, std::equal_to<>>;

Words split_words(std::string_view list) {
  Words words;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    words.emplace(word);
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
  return words;
}

/// Greek capital sigma is ς at the end of a word, σ elsewhere.
bool is_final_sigma(std::string_view text, size_t after, bool letter_before) {
  if (!letter_before || after >= text.size()) {
    return letter_before;
  }
  return !is_letter(next_code_point(text, after));
}

class SnowballAnalyzer : public Analyzer {
 public:
  SnowballAnalyzer(std::string_view code, const Language* language)
      : code_(code),
        stemmer_(language != nullptr ? language->stemmer : std::string_view()),
        stop_words_(split_words(language != nullptr ? language->stop_words : std::string_view())),
        keep_marks_(code != "en") {}

  std::string_view language() const override { return code_; }

  void analyze(std::string_view text, std::vector<Term>& out) const override {
    out.clear();
    Word word;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte < 0x80) {
        ++at;
        add_ascii(byte, begin, word, out);
      } else {
        const char32_t c = next_code_point(text, at);
        add_code_point(c, text, begin, at, word, out);
      }
    }
    finish(word, out);
  }

 private:
  struct Word {
    std::string bytes;
    uint32_t begin = 0;
    uint32_t end = 0;
    size_t characters = 0;
    bool unspaced = false;  // a run of a script without spaces
    bool marks = false;
  };

  void add_ascii(unsigned char byte, size_t begin, Word& word, std::vector<Term>& out) const {
    if (!is_word(byte)) {
      finish(word, out);
      return;
    }
    if (word.unspaced) {
      finish(word, out);
    }
    const bool upper = byte >= 'A' && byte <= 'Z';
    const char lower = static_cast<char>(upper ? byte + ('a' - 'A') : byte);
    grow(word, {&lower, 1}, begin, begin + 1);
  }

  void add_code_point(char32_t c, std::string_view text, size_t begin, size_t end, Word& word,
                      std::vector<Term>& out) const {
    const bool unspaced = is_unspaced_script(c);
    const bool mark = !unspaced && keep_marks_ && word.characters > 0 && is_mark(c);
    if (!unspaced && !mark && !is_word(c)) {
      finish(word, out);
      return;
    }
    if (word.characters > 0 && word.unspaced != unspaced) {
      finish(word, out);
    }
    char32_t lower[3] = {c};
    const int count = lower_case(c, lower);
    if (c == 0x3A3 && is_final_sigma(text, end, word.characters > 0)) {
      lower[0] = 0x3C2;
    }
    for (int i = 0; i < count; ++i) {
      if (i > 0 && !keep_marks_ && !is_word(lower[i])) {
        finish(word, out);  // the dot that lower-casing U+0130 leaves is no word character
        continue;
      }
      buffer(lower[i], begin, end, word);
    }
    word.unspaced = unspaced;
    word.marks = word.marks || mark;
  }

  static void buffer(char32_t c, size_t begin, size_t end, Word& word) {
    std::string bytes;
    append_code_point(bytes, c);
    grow(word, bytes, begin, end);
  }

  static void grow(Word& word, std::string_view bytes, size_t begin, size_t end) {
    if (word.characters == 0) {
      word.begin = static_cast<uint32_t>(begin);
    }
    ++word.characters;
    word.end = static_cast<uint32_t>(end);
    // Runs of unspaced scripts are read back for their bigrams and stay whole.
    if (word.bytes.size() + bytes.size() <= kTermBytesMax || word.unspaced) {
      word.bytes.append(bytes);
    }
  }

  void finish(Word& word, std::vector<Term>& out) const {
    if (word.unspaced) {
      add_bigrams(word, out);
    } else if (word.characters >= 2) {
      if (word.marks) {
        compose_in_place(word.bytes);
      }
      if (!stop_words_.contains(std::string_view(word.bytes))) {
        if (!stemmer_.empty() && word.bytes.size() < kTermBytesMax - 3) {
          stem_in_place(stemmer_, word.bytes);
        }
        if (!word.bytes.empty()) {
          out.push_back({word.bytes, word.begin, word.end});
        }
      }
    }
    word = Word{.bytes = std::move(word.bytes)};
    word.bytes.clear();
  }

  static void add_bigrams(const Word& word, std::vector<Term>& out) {
    const std::string_view run = word.bytes;
    size_t first = 0;
    size_t second = 0;
    next_code_point(run, second);
    if (second == run.size()) {
      out.push_back({word.bytes, word.begin, word.end});
      return;
    }
    while (second < run.size()) {
      size_t end = second;
      next_code_point(run, end);
      // No letter of these scripts changes its length in lower case, so places carry over.
      out.push_back({std::string(run.substr(first, end - first)),
                     word.begin + static_cast<uint32_t>(first),
                     word.begin + static_cast<uint32_t>(end)});
      first = second;
      second = end;
    }
  }

  std::string code_;
  std::string stemmer_;
  Words stop_words_;
  bool keep_marks_;  // English follows the published baseline, whose words have no marks
};

}  // namespace

Result<std::shared_ptr<const Analyzer>> Analyzer::create(std::string_view language) {
  if (language == "none") {
    return std::make_shared<const SnowballAnalyzer>("none", nullptr);
  }
  if (const Language* found = find_language(language)) {
    return std::make_shared<const SnowballAnalyzer>(found->code, found);
  }
  std::string names;
  for (const Language& known : languages()) {
    names += fmt::format("{} ({}), ", known.code, known.name);
  }
  return fail_field(Code::InvalidConfig, "language",
                    "language '{}' is not known; there are {}and none", language, names);
}

}  // namespace sibyl::text
