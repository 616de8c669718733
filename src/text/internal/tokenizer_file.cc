#include "text/internal/tokenizer_file.h"

#include <algorithm>

namespace sibyl::text {

namespace {

using base::Json;

// Far above any vocabulary, far below what would exhaust memory.
constexpr int64_t kTokenIdMax = 4'000'000;
constexpr size_t kAddedTokensMax = 100'000;
constexpr size_t kSpecialTokensMax = 64;

/// An id of a special token: given by number, or looked up by name.
Result<int32_t> checked_id(const Json& value, const TokenizerParts& parts, std::string_view what) {
  if (!value.is_number_integer()) {
    return fail(Code::InvalidData, "tokenizer.json: {} has an id that is no integer", what);
  }
  const auto id = value.get<int64_t>();
  if (id < 0 || id >= static_cast<int64_t>(parts.tokens.size())) {
    return fail(Code::InvalidData, "tokenizer.json: {} has id {}, but there are {} tokens", what,
                id, parts.tokens.size());
  }
  return static_cast<int32_t>(id);
}

Result<void> append_special(const Json& table, const std::string& name, const TokenizerParts& parts,
                            std::vector<int32_t>& ids) {
  const Json* entry = member(table, name);
  const Json* list = entry != nullptr ? member(*entry, "ids") : nullptr;
  if (list == nullptr || !list->is_array()) {
    return fail(Code::InvalidData,
                "tokenizer.json: post_processor.special_tokens has no ids for '{}'", name);
  }
  for (const Json& value : *list) {
    auto id = checked_id(value, parts, "post_processor.special_tokens");
    if (!id) {
      return pass_on(id);
    }
    ids.push_back(*id);
  }
  if (ids.size() > kSpecialTokensMax) {
    return fail(Code::InvalidData, "tokenizer.json: post_processor adds over {} special tokens",
                kSpecialTokensMax);
  }
  return {};
}

Result<void> read_template(const Json& processor, TokenizerParts& parts) {
  const Json* single = member(processor, "single");
  const Json* table = member(processor, "special_tokens");
  if (single == nullptr || !single->is_array()) {
    return fail(Code::InvalidData, "tokenizer.json: post_processor.single is missing");
  }
  const Json none = Json::object();
  bool seen = false;
  for (const Json& item : *single) {
    if (member(item, "Sequence") != nullptr) {
      if (seen) {
        return fail(Code::InvalidData,
                    "tokenizer.json: post_processor.single holds the text twice");
      }
      seen = true;
      continue;
    }
    const Json* special = member(item, "SpecialToken");
    if (special == nullptr) {
      return fail(Code::InvalidData,
                  "tokenizer.json: post_processor.single holds neither Sequence nor SpecialToken");
    }
    auto done = append_special(table != nullptr ? *table : none, text_at(*special, "id"), parts,
                               seen ? parts.after : parts.before);
    if (!done) {
      return done;
    }
  }
  if (!seen) {
    return fail(Code::InvalidData, "tokenizer.json: post_processor.single does not hold the text");
  }
  return {};
}

/// BertProcessing and RobertaProcessing: {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}.
Result<void> read_pair(const Json& processor, TokenizerParts& parts) {
  for (const std::string_view name : {"cls", "sep"}) {
    const Json* pair = member(processor, name);
    if (pair == nullptr || !pair->is_array() || pair->size() != 2) {
      return fail(Code::InvalidData, "tokenizer.json: post_processor.{} must be [\"token\", id]",
                  name);
    }
    auto id = checked_id((*pair)[1], parts, "post_processor");
    if (!id) {
      return pass_on(id);
    }
    (name == "cls" ? parts.before : parts.after).push_back(*id);
  }
  return {};
}

}  // namespace

const Json* member(const Json& object, std::string_view name) {
  if (!object.is_object()) {
    return nullptr;
  }
  for (const auto& item : object.get_ref<const Json::object_t&>()) {
    if (item.first == name) {
      return &item.second;
    }
  }
  return nullptr;
}

std::string text_at(const Json& object, std::string_view name, std::string otherwise) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : otherwise;
}

bool flag_at(const Json& object, std::string_view name, bool otherwise) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

std::string type_of(const Json* component) {
  return component != nullptr ? text_at(*component, "type") : std::string();
}

Result<void> put_token(std::vector<std::string>& tokens, std::string_view name, int64_t id) {
  if (id < 0 || id > kTokenIdMax) {
    return fail(Code::InvalidData, "tokenizer.json: token '{}' has id {}; ids are 0 to {}",
                cut_utf8(name, 100), id, kTokenIdMax);
  }
  const auto place = static_cast<size_t>(id);
  if (place >= tokens.size()) {
    tokens.resize(place + 1);
  }
  if (!tokens[place].empty() && tokens[place] != name) {
    return fail(Code::InvalidData, "tokenizer.json: id {} belongs to '{}' and '{}'", id,
                cut_utf8(tokens[place], 100), cut_utf8(name, 100));
  }
  tokens[place] = name;
  return {};
}

Result<std::vector<AddedToken>> read_added_tokens(const Json& file) {
  std::vector<AddedToken> out;
  const Json* list = member(file, "added_tokens");
  if (list == nullptr || list->is_null()) {
    return out;
  }
  if (!list->is_array() || list->size() > kAddedTokensMax) {
    return fail(Code::InvalidData, "tokenizer.json: added_tokens must be a list of at most {}",
                kAddedTokensMax);
  }
  for (const Json& item : *list) {
    const Json* id = member(item, "id");
    AddedToken token;
    token.content = text_at(item, "content");
    if (id == nullptr || !id->is_number_integer() || token.content.empty()) {
      return fail(Code::InvalidData,
                  "tokenizer.json: added_tokens holds an entry without id or content");
    }
    const auto number = id->get<int64_t>();
    if (number < 0 || number > kTokenIdMax) {
      return fail(Code::InvalidData, "tokenizer.json: added token '{}' has id {}; ids are 0 to {}",
                  cut_utf8(token.content, 100), number, kTokenIdMax);
    }
    token.id = static_cast<int32_t>(number);
    token.single_word = flag_at(item, "single_word", false);
    token.lstrip = flag_at(item, "lstrip", false);
    token.rstrip = flag_at(item, "rstrip", false);
    token.normalized = flag_at(item, "normalized", !flag_at(item, "special", false));
    out.push_back(std::move(token));
  }
  return out;
}

BertOptions read_bert_options(const Json& normalizer) {
  BertOptions options;
  options.clean_text = flag_at(normalizer, "clean_text", true);
  options.handle_chinese_chars = flag_at(normalizer, "handle_chinese_chars", true);
  options.lowercase = flag_at(normalizer, "lowercase", true);
  options.strip_accents = flag_at(normalizer, "strip_accents", options.lowercase);
  return options;
}

Result<void> read_post_processor(const Json* processor, TokenizerParts& parts) {
  const std::string type = type_of(processor);
  if (processor == nullptr || processor->is_null()) {
    return {};
  }
  if (type == "TemplateProcessing") {
    return read_template(*processor, parts);
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return read_pair(*processor, parts);
  }
  return fail(Code::InvalidData,
              "tokenizer.json: post_processor '{}' is not supported; TemplateProcessing, "
              "BertProcessing and RobertaProcessing are",
              type);
}

}  // namespace sibyl::text
