#include <array>
#include <string>
#include <unordered_map>

#include "text/analyzer.h"
#include "text/internal/languages.h"
#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

// So much of a text is enough to tell.
constexpr size_t kBytesRead = size_t{1} << 16;

struct Script {
  std::string_view language;
  char32_t first;
  char32_t last;
};
// Scripts that settle the language, or nearly.
constexpr Script kScripts[] = {
    {"el", 0x370, 0x3FF},   {"ru", 0x400, 0x52F},   {"hy", 0x531, 0x58F},   {"ar", 0x600, 0x6FF},
    {"hi", 0x900, 0x97F},   {"ta", 0xB80, 0xBFF},   {"th", 0xE00, 0xE7F},   {"el", 0x1F00, 0x1FFF},
    {"ja", 0x3041, 0x30FF}, {"zh", 0x3400, 0x4DBF}, {"zh", 0x4E00, 0x9FFF}, {"ko", 0xAC00, 0xD7A3}};

struct Counts {
  std::unordered_map<std::string_view, size_t> letters;  // by language of the script
  std::array<size_t, 64> stop_words{};                   // by place in languages()
  size_t latin = 0;
  size_t serbian = 0;
  size_t all = 0;
};

using WordMasks = std::unordered_map<std::string_view, uint64_t>;

/// Stop word to the set of languages that have it.
const WordMasks& word_masks() {
  static const WordMasks masks = [] {
    WordMasks made;
    for (size_t i = 0; i < languages().size(); ++i) {
      std::string_view list = languages()[i].stop_words;
      while (!list.empty()) {
        const std::string_view word = list.substr(0, list.find(' '));
        made[word] |= uint64_t{1} << i;
        list.remove_prefix(std::min(list.size(), word.size() + 1));
      }
    }
    return made;
  }();
  return masks;
}

void count_letter(char32_t c, Counts& counts) {
  ++counts.all;
  if (c < 0x250 || (c >= 0x1E00 && c < 0x1F00)) {
    ++counts.latin;
    return;
  }
  counts.serbian += c == 0x452 || c == 0x45B || c == 0x45F || c == 0x459 || c == 0x45A ||
                    c == 0x458;  // ђ ћ џ љ њ ј
  for (const Script& script : kScripts) {
    if (c >= script.first && c <= script.last) {
      ++counts.letters[script.language];
      return;
    }
  }
}

void count_word(std::string_view word, Counts& counts) {
  const auto found = word_masks().find(word);
  if (found == word_masks().end()) {
    return;
  }
  for (size_t i = 0; i < languages().size(); ++i) {
    counts.stop_words[i] += (found->second >> i) & 1;
  }
}

Counts count(std::string_view text) {
  Counts counts;
  std::string word;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_letter(c) || (is_mark(c) && !word.empty())) {
      char32_t lower[3] = {c};
      const int letters = lower_case(c, lower);
      for (int i = 0; i < letters; ++i) {
        append_code_point(word, lower[i]);
      }
      count_letter(lower[0], counts);
    } else if (!word.empty()) {
      count_word(word, counts);
      word.clear();
    }
  }
  count_word(word, counts);
  return counts;
}

/// Language of the script that most letters are of; empty for Latin.
std::string_view by_script(const Counts& counts) {
  size_t most = counts.latin;
  std::string_view best;
  for (const Script& script : kScripts) {
    const auto found = counts.letters.find(script.language);
    if (found != counts.letters.end() && found->second > most) {
      most = found->second;
      best = script.language;
    }
  }
  const auto kana = counts.letters.find("ja");
  if (best == "zh" && kana != counts.letters.end() && kana->second * 20 > most) {
    return "ja";  // Japanese is half Han
  }
  return best == "ru" && counts.serbian * 50 > most ? "sr" : best;
}

}  // namespace

std::string guess_language(std::string_view text) {
  const Counts counts = count(cut_utf8(text, kBytesRead));
  if (const std::string_view script = by_script(counts); !script.empty()) {
    return std::string(script);
  }
  size_t english = 0;
  size_t best = 0;
  for (size_t i = 0; i < languages().size(); ++i) {
    english = languages()[i].code == "en" ? i : english;
    best = counts.stop_words[i] > counts.stop_words[best] ? i : best;
  }
  // One word more could be a name or a quotation.
  const bool sure = counts.stop_words[best] >= counts.stop_words[english] + 2;
  return std::string(sure ? languages()[best].code : "en");
}

}  // namespace sibyl::text
