#include <algorithm>
#include <cmath>
#include <utility>

#include "text/internal/tokenizer_file.h"
#include "text/internal/unigram.h"
#include "text/utf8.h"

namespace sibyl::text {

using base::Json;

Result<std::shared_ptr<const UnigramModel>> read_unigram(const Json& model, TokenizerParts& parts) {
  const Json* vocabulary = member(model, "vocab");
  if (vocabulary == nullptr || !vocabulary->is_array() || vocabulary->empty()) {
    return fail(Code::InvalidData,
                "tokenizer.json: model.vocab must be a list of [token, score], not empty");
  }
  std::vector<double> scores;
  for (const Json& entry : *vocabulary) {
    const bool good = entry.is_array() && entry.size() == 2 && entry[0].is_string() &&
                      entry[1].is_number() && std::isfinite(entry[1].get<double>());
    if (!good) {
      return fail(Code::InvalidData, "tokenizer.json: model.vocab[{}] must be [token, score]",
                  scores.size());
    }
    scores.push_back(entry[1].get<double>());
    const auto id = static_cast<int64_t>(parts.tokens.size());
    if (auto put = put_token(parts.tokens, entry[0].get_ref<const std::string&>(), id); !put) {
      return pass_on(put);
    }
    parts.tokens.resize(scores.size());  // an empty token still takes its id
  }
  std::vector<std::pair<std::string_view, int32_t>> entries;
  for (size_t id = 0; id < parts.tokens.size(); ++id) {
    entries.emplace_back(parts.tokens[id], static_cast<int32_t>(id));
  }
  parts.vocabulary = std::make_shared<const Trie>(std::move(entries));
  const Json* unknown = member(model, "unk_id");
  if (unknown == nullptr || !unknown->is_number_integer() || unknown->get<int64_t>() < 0 ||
      unknown->get<int64_t>() >= static_cast<int64_t>(scores.size())) {
    return fail(Code::InvalidData,
                "tokenizer.json: model.unk_id must be the id of one of the {} pieces",
                scores.size());
  }
  UnigramModel::Settings settings;
  settings.unknown_id = unknown->get<int32_t>();
  settings.byte_fallback = flag_at(model, "byte_fallback", false);
  for (int byte = 0; settings.byte_fallback && byte < 256; ++byte) {
    settings.byte_ids.push_back(parts.vocabulary->find(fmt::format("<0x{:02X}>", byte)));
  }
  parts.unknown_id = settings.unknown_id;
  return std::make_shared<const UnigramModel>(parts.vocabulary, std::move(scores),
                                              std::move(settings));
}

}  // namespace sibyl::text
