#include "text/internal/pre_tokenizers.h"

#include <utility>

#include "text/internal/bert_characters.h"
#include "text/internal/tokenizer_file.h"
#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

using base::Json;

constexpr size_t kDepthMax = 8;
constexpr size_t kStepsMax = 100;

/// What a splitting step makes of a code point.
enum class Class : uint8_t { Removed, Alone, Word, OtherWord };

/// Splits between classes: neighbours of one word class stay together.
class ClassStep : public PreTokenizerStep {
 public:
  using Classify = Class (*)(char32_t);
  explicit ClassStep(Classify classify) : classify_(classify) {}

  void apply(const PreTokens& in, bool, PreTokens& out) const override {
    out.text = in.text;
    for (const PreTokens::Piece& piece : in.pieces) {
      const std::string_view text = std::string_view(in.text.bytes).substr(0, piece.end);
      size_t begin = piece.begin;
      Class open = Class::Removed;
      for (size_t at = piece.begin; at < piece.end;) {
        const size_t start = at;
        const Class kind = classify_(next_code_point(text, at));
        if (kind != open || kind == Class::Alone) {
          close(piece, open, begin, start, out);
          begin = start;
          open = kind;
        }
      }
      close(piece, open, begin, piece.end, out);
    }
  }

 private:
  static void close(const PreTokens::Piece& piece, Class open, size_t begin, size_t end,
                    PreTokens& out) {
    if (open != Class::Removed && begin < end) {
      out.pieces.push_back({begin, end, piece.opens_text && begin == piece.begin});
    }
  }

  Classify classify_;
};

Class bert_class(char32_t c) {
  return is_space(c) ? Class::Removed : bert_is_punctuation(c) ? Class::Alone : Class::Word;
}
Class whitespace_split_class(char32_t c) {
  return is_space(c) ? Class::Removed : Class::Word;
}
Class whitespace_class(char32_t c) {
  return is_space(c) ? Class::Removed : is_word(c) || is_mark(c) ? Class::Word : Class::OtherWord;
}
Class punctuation_class(char32_t c) {
  return bert_is_punctuation(c) ? Class::Alone : Class::Word;
}
Class digits_class(char32_t c) {
  return is_number(c) ? Class::OtherWord : Class::Word;
}
Class single_digits_class(char32_t c) {
  return is_number(c) ? Class::Alone : Class::Word;
}

/// SentencePiece's visible spaces.
class MetaspaceStep : public PreTokenizerStep {
 public:
  enum class Prepend { Always, First, Never };
  MetaspaceStep(std::string replacement, Prepend prepend, bool split)
      : replacement_(std::move(replacement)), prepend_(prepend), split_(split) {}

  void apply(const PreTokens& in, bool offsets, PreTokens& out) const override {
    for (const PreTokens::Piece& piece : in.pieces) {
      const size_t begin = out.text.bytes.size();
      rewrite(in.text, piece, offsets, out.text);
      const size_t end = out.text.bytes.size();
      if (split_) {
        divide(begin, end, piece.opens_text, out);
      } else if (begin < end) {
        out.pieces.push_back({begin, end, piece.opens_text});
      }
    }
  }

 private:
  void rewrite(const WordBuffer& in, const PreTokens::Piece& piece, bool offsets,
               WordBuffer& out) const {
    const std::string_view text =
        std::string_view(in.bytes).substr(piece.begin, piece.end - piece.begin);
    const auto copy = [&](std::string_view bytes, size_t from, size_t to) {
      out.bytes.append(bytes);
      if (offsets) {
        out.begins.insert(out.begins.end(), bytes.size(), in.begins[piece.begin + from]);
        out.ends.insert(out.ends.end(), bytes.size(), in.ends[piece.begin + to - 1]);
      }
    };
    const bool wanted =
        prepend_ == Prepend::Always || (prepend_ == Prepend::First && piece.opens_text);
    if (wanted && !text.empty() && text[0] != ' ' && !text.starts_with(replacement_)) {
      size_t first = 0;
      next_code_point(text, first);
      copy(replacement_, 0, first);
    }
    for (size_t i = 0; i < text.size(); ++i) {
      copy(text[i] == ' ' ? std::string_view(replacement_) : text.substr(i, 1), i, i + 1);
    }
  }

  void divide(size_t begin, size_t end, bool opens_text, PreTokens& out) const {
    const std::string_view text = std::string_view(out.text.bytes).substr(0, end);
    size_t start = begin;
    while (start < end) {
      const size_t next = std::min(text.find(replacement_, start + 1), end);
      out.pieces.push_back({start, next, opens_text && start == begin});
      start = next;
    }
  }

  std::string replacement_;
  Prepend prepend_;
  bool split_;
};

Result<std::unique_ptr<const PreTokenizerStep>> read_metaspace(const Json& settings) {
  const std::string replacement = text_at(settings, "replacement", "\u2581");
  if (code_points(replacement) != 1) {
    return fail(Code::InvalidData,
                "tokenizer.json: pre_tokenizer.replacement must be one character");
  }
  // Older files say add_prefix_space.
  const std::string scheme = text_at(
      settings, "prepend_scheme", flag_at(settings, "add_prefix_space", true) ? "always" : "never");
  const auto prepend = scheme == "always"  ? MetaspaceStep::Prepend::Always
                       : scheme == "first" ? MetaspaceStep::Prepend::First
                                           : MetaspaceStep::Prepend::Never;
  if (prepend == MetaspaceStep::Prepend::Never && scheme != "never") {
    return fail(Code::InvalidData,
                "tokenizer.json: pre_tokenizer.prepend_scheme '{}' must be always, first or never",
                scheme);
  }
  return std::make_unique<const MetaspaceStep>(replacement, prepend,
                                               flag_at(settings, "split", true));
}

ClassStep::Classify find_class(std::string_view type, const Json& settings) {
  if (type == "BertPreTokenizer") {
    return bert_class;
  }
  if (type == "WhitespaceSplit") {
    return whitespace_split_class;
  }
  if (type == "Whitespace") {
    return whitespace_class;
  }
  if (type == "Punctuation" && text_at(settings, "behavior", "Isolated") == "Isolated") {
    return punctuation_class;
  }
  if (type == "Digits") {
    return flag_at(settings, "individual_digits", false) ? single_digits_class : digits_class;
  }
  return nullptr;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::read(const Json* pre_tokenizer) {
  PreTokenizer chain;
  if (pre_tokenizer != nullptr && !pre_tokenizer->is_null()) {
    if (auto done = chain.add(*pre_tokenizer, 0); !done) {
      return pass_on(done);
    }
  }
  return chain;
}

Result<void> PreTokenizer::add(const Json& settings, size_t depth) {
  const std::string type = type_of(&settings);
  if (steps_.size() >= kStepsMax || depth > kDepthMax) {
    return fail(Code::InvalidData, "tokenizer.json: pre_tokenizer has over {} steps or {} levels",
                kStepsMax, kDepthMax);
  }
  if (type == "Sequence") {
    const Json* list = member(settings, "pretokenizers");
    if (list == nullptr || !list->is_array()) {
      return fail(Code::InvalidData, "tokenizer.json: pre_tokenizer.pretokenizers must be a list");
    }
    for (const Json& item : *list) {
      if (auto done = add(item, depth + 1); !done) {
        return done;
      }
    }
    return {};
  }
  if (type == "Metaspace") {
    auto step = read_metaspace(settings);
    if (!step) {
      return pass_on(step);
    }
    steps_.push_back(std::move(*step));
    return {};
  }
  if (const auto classify = find_class(type, settings)) {
    steps_.push_back(std::make_unique<const ClassStep>(classify));
    return {};
  }
  return fail(Code::InvalidData,
              "tokenizer.json: pre_tokenizer '{}' is not supported; BertPreTokenizer, Metaspace, "
              "Whitespace, WhitespaceSplit, Punctuation (Isolated), Digits and Sequence are",
              type);
}

void PreTokenizer::apply(bool offsets, PreTokens& tokens) const {
  for (const auto& step : steps_) {
    PreTokens next;
    step->apply(tokens, offsets, next);
    tokens = std::move(next);
  }
}

}  // namespace sibyl::text
