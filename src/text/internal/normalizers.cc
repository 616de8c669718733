#include "text/internal/normalizers.h"

#include "text/internal/normalizer_steps.h"
#include "text/internal/tokenizer_file.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

using base::Json;

constexpr size_t kDepthMax = 8;
constexpr size_t kStepsMax = 1000;

std::unique_ptr<NormalizerStep> simple_step(std::string_view type, const Json& settings) {
  if (type == "BertNormalizer") {
    return std::make_unique<BertStep>(read_bert_options(settings));
  }
  if (type == "Lowercase") {
    return std::make_unique<CharacterStep>(CharacterStep::Kind::Lowercase);
  }
  if (type == "StripAccents") {
    return std::make_unique<CharacterStep>(CharacterStep::Kind::StripAccents);
  }
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    return std::make_unique<UnicodeStep>(type.ends_with('C'), type[2] == 'K');
  }
  if (type == "Strip") {
    return std::make_unique<StripStep>(flag_at(settings, "strip_left", true),
                                       flag_at(settings, "strip_right", true));
  }
  if (type == "Prepend") {
    return std::make_unique<PrependStep>(text_at(settings, "prepend"));
  }
  return nullptr;
}

/// Ill-formed parts become U+FFFD that stands for them.
void repair(std::string_view text, bool offsets, WordBuffer& out) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    std::string bytes;
    append_code_point(bytes, next_code_point(text, at));
    append_with_origin(bytes, begin, at, offsets, out);
  }
}

}  // namespace

void append_with_origin(std::string_view bytes, size_t begin, size_t end, bool offsets,
                        WordBuffer& out) {
  out.bytes.append(bytes);
  if (offsets) {
    out.begins.insert(out.begins.end(), bytes.size(), static_cast<uint32_t>(begin));
    out.ends.insert(out.ends.end(), bytes.size(), static_cast<uint32_t>(end));
  }
}

Result<Normalizer> Normalizer::read(const Json* normalizer) {
  Normalizer chain;
  if (normalizer != nullptr && !normalizer->is_null()) {
    if (auto done = chain.add(*normalizer, 0); !done) {
      return pass_on(done);
    }
  }
  return chain;
}

Result<void> Normalizer::add(const Json& normalizer, size_t depth) {
  const std::string type = type_of(&normalizer);
  if (steps_.size() >= kStepsMax || depth > kDepthMax) {
    return fail(Code::InvalidData, "tokenizer.json: normalizer has over {} steps or {} levels",
                kStepsMax, kDepthMax);
  }
  if (type == "Sequence") {
    const Json* list = member(normalizer, "normalizers");
    if (list == nullptr || !list->is_array()) {
      return fail(Code::InvalidData, "tokenizer.json: normalizer.normalizers must be a list");
    }
    for (const Json& item : *list) {
      if (auto done = add(item, depth + 1); !done) {
        return done;
      }
    }
    return {};
  }
  if (type == "Replace") {
    return add_replace(normalizer);
  }
  if (type == "Precompiled") {
    auto map = CharacterMapStep::read(text_at(normalizer, "precompiled_charsmap"));
    if (!map) {
      return pass_on(map);
    }
    steps_.push_back(std::move(*map));
    return {};
  }
  auto step = simple_step(type, normalizer);
  if (step == nullptr) {
    return fail(Code::InvalidData,
                "tokenizer.json: normalizer '{}' is not supported; BertNormalizer, Precompiled, "
                "Lowercase, StripAccents, NFC, NFD, NFKC, NFKD, Strip, Prepend, Replace and "
                "Sequence are",
                type);
  }
  steps_.push_back(std::move(step));
  return {};
}

Result<void> Normalizer::add_replace(const Json& normalizer) {
  const std::string content = text_at(normalizer, "content");
  const Json* pattern = member(normalizer, "pattern");
  const Json* literal = pattern != nullptr ? member(*pattern, "String") : nullptr;
  if (literal != nullptr && literal->is_string() &&
      !literal->get_ref<const std::string&>().empty()) {
    const std::string text = literal->get<std::string>();
    if (text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80) {
      auto* last = steps_.empty() ? nullptr : dynamic_cast<SignStep*>(steps_.back().get());
      if (last != nullptr && last->add(text[0], content)) {
        return {};
      }
      auto signs = std::make_unique<SignStep>();
      signs->add(text[0], content);
      steps_.push_back(std::move(signs));
      return {};
    }
    steps_.push_back(std::make_unique<LiteralStep>(text, content));
    return {};
  }
  const std::string expression = pattern != nullptr ? text_at(*pattern, "Regex") : std::string();
  const auto run = RunStep::parse(expression);
  if (!run) {
    return fail(
        Code::InvalidData,
        "tokenizer.json: normalizer Replace has the pattern '{}'; a String, or a Regex such "
        "as '\\s+' or ' {{2,}}' is supported",
        expression);
  }
  steps_.push_back(std::make_unique<RunStep>(*run, content));
  return {};
}

void Normalizer::apply(std::string_view text, uint32_t base, bool offsets, WordBuffer& out) const {
  WordBuffer other;
  out.clear();
  if (is_utf8(text)) {
    out.bytes = text;
    for (size_t i = 0; offsets && i < text.size(); ++i) {
      out.begins.push_back(base + static_cast<uint32_t>(i));
      out.ends.push_back(base + static_cast<uint32_t>(i) + 1);
    }
  } else {
    repair(text, offsets, out);
    for (size_t i = 0; i < out.begins.size(); ++i) {
      out.begins[i] += base;
      out.ends[i] += base;
    }
  }
  for (const auto& step : steps_) {
    other.clear();
    step->apply(out.bytes, offsets, other);
    for (size_t i = 0; i < other.begins.size(); ++i) {
      other.begins[i] = out.begins[other.begins[i]];
      other.ends[i] = out.ends[other.ends[i] - 1];
    }
    std::swap(out, other);
  }
}

}  // namespace sibyl::text
