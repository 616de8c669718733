#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "text/internal/bert_splitter.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

constexpr std::string_view kSpecials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
constexpr size_t kWordCharactersMax = 100;  // longer words are [UNK] in BERT
// Of the room that single characters leave, words get this much; pieces spell the rest.
constexpr size_t kWordPercent = 85;
// Endings are short; longer tails are hardly shared.
constexpr size_t kPieceCharactersMax = 8;

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using Counts = std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>>;
using Ranked = std::vector<std::pair<std::string, uint64_t>>;

void bump(Counts& counts, std::string_view key, uint64_t by) {
  const auto at = counts.find(key);
  if (at != counts.end()) {
    at->second += by;
  } else {
    counts.emplace(key, by);
  }
}

/// Most frequent first; equal ones in byte order, so that the result does not depend on the table.
Ranked ranked(const Counts& counts) {
  Ranked out(counts.begin(), counts.end());
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return out;
}

Counts count_words(const std::vector<std::string_view>& texts) {
  Counts words;
  const BertSplitter splitter{BertOptions{}};
  for (const std::string_view text : texts) {
    splitter.split(text, 0, false, [&words](const WordBuffer& word) {
      if (word.bytes.size() <= kWordCharactersMax ||
          code_points(word.bytes) <= kWordCharactersMax) {
        bump(words, word.bytes, 1);
      }
      return true;
    });
  }
  return words;
}

class Vocabulary {
 public:
  explicit Vocabulary(size_t tokens_max) : tokens_max_(tokens_max) {
    for (const std::string_view special : kSpecials) {
      add(special);
    }
  }

  bool full() const { return tokens_.size() >= tokens_max_; }
  size_t room() const { return full() ? 0 : tokens_max_ - tokens_.size(); }
  bool contains(std::string_view token) const { return known_.contains(token); }
  void add(std::string_view token) {
    if (!contains(token)) {
      known_.emplace(token, 0);
      tokens_.emplace_back(token);
    }
  }
  /// Adds of the ranked ones until `room` are in or the vocabulary is full.
  void add_best(const Ranked& ranking, size_t room, uint64_t count_min) {
    for (const auto& [token, count] : ranking) {
      if (room == 0 || full() || count < count_min) {
        return;
      }
      if (!contains(token)) {
        add(token);
        --room;
      }
    }
  }
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  size_t tokens_max_;
  std::vector<std::string> tokens_;
  Counts known_;
};

/// Calls with each character's bytes and whether it opens the word.
template <class OnCharacter>
void each_character(std::string_view word, OnCharacter on_character) {
  for (size_t at = 0; at < word.size();) {
    const size_t begin = at;
    next_code_point(word, at);
    on_character(word.substr(begin, at - begin), begin == 0);
  }
}

Counts count_characters(const Counts& words) {
  Counts characters;
  for (const auto& [word, count] : words) {
    each_character(word, [&characters, times = count](std::string_view character, bool first) {
      bump(characters, first ? std::string(character) : "##" + std::string(character), times);
    });
  }
  return characters;
}

/// What is left of a word behind the longest token that opens it.
std::string_view tail_of(std::string_view word, const Vocabulary& vocabulary) {
  size_t best = 0;
  each_character(word, [&](std::string_view character, bool) {
    const auto end = static_cast<size_t>(character.data() + character.size() - word.data());
    best = vocabulary.contains(word.substr(0, end)) ? end : best;
  });
  return word.substr(best);
}

/// Candidates for pieces inside words: the tails of the words that are not in, and their endings,
/// weighed by the characters that they would spell.
Counts count_pieces(const Counts& words, const Vocabulary& vocabulary) {
  Counts pieces;
  for (const auto& [word, count] : words) {
    if (vocabulary.contains(word)) {
      continue;
    }
    const std::string_view tail = tail_of(word, vocabulary);
    std::vector<size_t> starts;
    each_character(tail, [&starts, &tail](std::string_view character, bool) {
      starts.push_back(static_cast<size_t>(character.data() - tail.data()));
    });
    const size_t characters = starts.size();
    for (size_t length = 2; length <= std::min(characters, kPieceCharactersMax); ++length) {
      bump(pieces, "##" + std::string(tail.substr(starts[characters - length])), count * length);
    }
  }
  return pieces;
}

void write_special(base::JsonWriter& json, std::string_view name, int64_t id) {
  json.begin_object();
  json.key("id").text(name).key("ids").begin_array().integer(id).end_array();
  json.key("tokens").begin_array().text(name).end_array();
  json.end_object();
}

void write_sequence(base::JsonWriter& json, std::string_view kind, std::string_view id,
                    int64_t type) {
  json.begin_object().key(kind).begin_object();
  json.key("id").text(id).key("type_id").integer(type);
  json.end_object().end_object();
}

void write_template(base::JsonWriter& json) {
  json.begin_object().key("type").text("TemplateProcessing").key("single").begin_array();
  write_sequence(json, "SpecialToken", "[CLS]", 0);
  write_sequence(json, "Sequence", "A", 0);
  write_sequence(json, "SpecialToken", "[SEP]", 0);
  json.end_array().key("pair").begin_array();
  write_sequence(json, "SpecialToken", "[CLS]", 0);
  write_sequence(json, "Sequence", "A", 0);
  write_sequence(json, "SpecialToken", "[SEP]", 0);
  write_sequence(json, "Sequence", "B", 1);
  write_sequence(json, "SpecialToken", "[SEP]", 1);
  json.end_array().key("special_tokens").begin_object();
  json.key("[CLS]");
  write_special(json, "[CLS]", 2);
  json.key("[SEP]");
  write_special(json, "[SEP]", 3);
  json.end_object().end_object();
}

std::string to_json(const std::vector<std::string>& tokens) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("version").text("1.0");
  json.key("truncation").null().key("padding").null();
  json.key("added_tokens").begin_array();
  for (size_t id = 0; id < std::size(kSpecials); ++id) {
    json.begin_object().key("id").integer(static_cast<int64_t>(id));
    json.key("content").text(kSpecials[id]);
    for (const std::string_view flag : {"single_word", "lstrip", "rstrip", "normalized"}) {
      json.key(flag).boolean(false);
    }
    json.key("special").boolean(true).end_object();
  }
  json.end_array();
  json.key("normalizer").begin_object().key("type").text("BertNormalizer");
  json.key("clean_text").boolean(true).key("handle_chinese_chars").boolean(true);
  json.key("strip_accents").null().key("lowercase").boolean(true).end_object();
  json.key("pre_tokenizer").begin_object().key("type").text("BertPreTokenizer").end_object();
  json.key("post_processor");
  write_template(json);
  json.key("decoder").begin_object().key("type").text("WordPiece");
  json.key("prefix").text("##").key("cleanup").boolean(true).end_object();
  json.key("model").begin_object().key("type").text("WordPiece");
  json.key("unk_token").text("[UNK]").key("continuing_subword_prefix").text("##");
  json.key("max_input_chars_per_word").integer(kWordCharactersMax);
  json.key("vocab").begin_object();
  for (size_t id = 0; id < tokens.size(); ++id) {
    json.key(tokens[id]).integer(static_cast<int64_t>(id));
  }
  json.end_object().end_object().end_object();
  return out;
}

}  // namespace

std::string learn_wordpiece_json(const std::vector<std::string_view>& texts, size_t tokens_max) {
  const Counts words = count_words(texts);
  Vocabulary vocabulary(tokens_max);
  // Characters first, so that every word can be spelt; scripts with very many get half the room.
  vocabulary.add_best(ranked(count_characters(words)), vocabulary.room() / 2, 1);
  const Ranked by_count = ranked(words);
  vocabulary.add_best(by_count, vocabulary.room() * kWordPercent / 100, 2);
  vocabulary.add_best(ranked(count_pieces(words, vocabulary)), vocabulary.room(), 4);
  vocabulary.add_best(by_count, vocabulary.room(), 1);
  return to_json(vocabulary.tokens());
}

}  // namespace sibyl::text
