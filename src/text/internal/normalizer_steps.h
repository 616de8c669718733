#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/internal/bert_splitter.h"
#include "text/internal/normalizers.h"

namespace sibyl::text {

class BertStep : public NormalizerStep {
 public:
  explicit BertStep(const BertOptions& options) : splitter_(options) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override {
    splitter_.normalize(text, 0, offsets, out);
  }

 private:
  BertSplitter splitter_;
};

/// Replaces single ASCII signs, many patterns in one pass.
class SignStep : public NormalizerStep {
 public:
  /// False when the new pattern would see text that an earlier one put in.
  bool add(char sign, const std::string& content);
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  std::array<std::optional<std::string>, 128> contents_;
  std::string put_in_;
};

/// Replaces a literal.
class LiteralStep : public NormalizerStep {
 public:
  LiteralStep(std::string pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  std::string pattern_;
  std::string content_;
};

/// Replaces runs of white space or of one character: the regular expressions that files have.
class RunStep : public NormalizerStep {
 public:
  struct Pattern {
    bool any_space = false;  ///< \s; else `character`
    char32_t character = ' ';
    size_t count_min = 1;
    bool greedy = true;  ///< a whole run at once; else each match of count_min
  };
  /// The pattern of `\s`, `\s+`, ` {2,}`, ` +` and their like; nothing for other expressions.
  static std::optional<Pattern> parse(std::string_view expression);

  RunStep(const Pattern& pattern, std::string content)
      : pattern_(pattern), content_(std::move(content)) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  Pattern pattern_;
  std::string content_;
};

class StripStep : public NormalizerStep {
 public:
  StripStep(bool left, bool right) : left_(left), right_(right) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  bool left_;
  bool right_;
};

class PrependStep : public NormalizerStep {
 public:
  explicit PrependStep(std::string content) : content_(std::move(content)) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  std::string content_;
};

/// Lower case, or taking accents away, one code point at a time.
class CharacterStep : public NormalizerStep {
 public:
  enum class Kind { Lowercase, StripAccents };
  explicit CharacterStep(Kind kind) : kind_(kind) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  Kind kind_;
};

/// NFC, NFD, NFKC, NFKD.
class UnicodeStep : public NormalizerStep {
 public:
  UnicodeStep(bool compose, bool compatible) : compose_(compose), compatible_(compatible) {}
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  bool compose_;
  bool compatible_;
};

/// SentencePiece's compiled character map: a Darts trie of what is replaced and a pool of
/// replacements. Every read is checked, so a hostile map does no harm.
class CharacterMapStep : public NormalizerStep {
 public:
  /// From base64; InvalidData when the sizes do not fit.
  static Result<std::unique_ptr<NormalizerStep>> read(std::string_view base64);
  void apply(std::string_view text, bool offsets, WordBuffer& out) const override;

 private:
  std::optional<std::string_view> replacement(std::string_view chunk) const;

  std::vector<uint32_t> units_;
  std::string pool_;
};

}  // namespace sibyl::text
