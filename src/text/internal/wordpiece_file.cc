#include <utility>

#include "text/internal/tokenizer_file.h"
#include "text/internal/wordpiece.h"
#include "text/utf8.h"

namespace sibyl::text {

using base::Json;

Result<std::shared_ptr<const WordPieceModel>> read_wordpiece(const Json& model,
                                                             TokenizerParts& parts) {
  const Json* vocabulary = member(model, "vocab");
  if (vocabulary == nullptr || !vocabulary->is_object() || vocabulary->empty()) {
    return fail(Code::InvalidData,
                "tokenizer.json: model.vocab must be an object of token to id, not empty");
  }
  std::vector<std::pair<std::string_view, int32_t>> entries;
  entries.reserve(vocabulary->size());
  for (const auto& [name, id] : vocabulary->get_ref<const Json::object_t&>()) {
    if (!id.is_number_integer()) {
      return fail(Code::InvalidData, "tokenizer.json: token '{}' has an id that is no integer",
                  cut_utf8(name, 100));
    }
    auto put = put_token(parts.tokens, name, id.get<int64_t>());
    if (!put) {
      return pass_on(put);
    }
    entries.emplace_back(name, id.get<int32_t>());
  }
  parts.vocabulary = std::make_shared<const Trie>(std::move(entries));
  WordPieceModel::Settings settings;
  const std::string unknown = text_at(model, "unk_token", "[UNK]");
  settings.unknown_id = parts.vocabulary->find(unknown);
  if (settings.unknown_id < 0) {
    return fail(Code::InvalidData,
                "tokenizer.json: model.unk_token '{}' is not in model.vocab; add it there",
                unknown);
  }
  parts.unknown_id = settings.unknown_id;
  settings.continuing_prefix = text_at(model, "continuing_subword_prefix", "##");
  const Json* most = member(model, "max_input_chars_per_word");
  if (most != nullptr && most->is_number_integer() && most->get<int64_t>() >= 0) {
    settings.characters_max = most->get<size_t>();
  }
  return std::make_shared<const WordPieceModel>(parts.vocabulary, settings);
}

}  // namespace sibyl::text
