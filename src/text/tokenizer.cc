#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "text/internal/generic_encoder.h"
#include "text/internal/pipeline_tokenizer.h"
#include "text/internal/tokenizer_file.h"
#include "text/internal/wordpiece.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

using base::Json;

/// The id of the padding token: from "padding", else by its usual names.
int32_t find_padding(const Json& file, const TokenizerParts& parts) {
  const Json* padding = member(file, "padding");
  const Json* id = padding != nullptr ? member(*padding, "pad_id") : nullptr;
  if (id != nullptr && id->is_number_integer() && id->get<int64_t>() >= 0 &&
      id->get<int64_t>() < static_cast<int64_t>(parts.tokens.size())) {
    return id->get<int32_t>();
  }
  for (const std::string_view name : {"[PAD]", "<pad>"}) {
    for (const AddedToken& added : parts.added) {
      if (added.content == name) {
        return added.id;
      }
    }
    if (const int32_t found = parts.vocabulary->find(name); found >= 0) {
      return found;
    }
  }
  return -1;
}

/// Added tokens that are looked for after normalisation.
std::vector<AddedToken> normalized_only(std::vector<AddedToken> tokens) {
  std::erase_if(tokens, [](const AddedToken& token) { return !token.normalized; });
  return tokens;
}

Result<void> read_encoder(const Json& file, const Json& model, TokenizerParts& parts) {
  const std::string type = type_of(&model);
  std::shared_ptr<const PieceModel> pieces;
  const Json* normalizer = member(file, "normalizer");
  const Json* pre_tokenizer = member(file, "pre_tokenizer");
  std::vector<AddedToken> late = normalized_only(parts.added);
  if (type == "WordPiece") {
    auto wordpiece = read_wordpiece(model, parts);
    if (!wordpiece) {
      return pass_on(wordpiece);
    }
    if (type_of(normalizer) == "BertNormalizer" && late.empty() &&
        type_of(pre_tokenizer) == "BertPreTokenizer") {
      parts.encoder =
          std::make_unique<BertWordPiece>(read_bert_options(*normalizer), std::move(*wordpiece));
      return {};
    }
    pieces = std::move(*wordpiece);
  } else if (type == "Unigram") {
    auto unigram = read_unigram(model, parts);
    if (!unigram) {
      return pass_on(unigram);
    }
    pieces = std::move(*unigram);
  } else {
    return fail(Code::InvalidData,
                "tokenizer.json: model.type '{}' is not supported; WordPiece and Unigram are",
                type);
  }
  auto steps = Normalizer::read(normalizer);
  if (!steps) {
    return pass_on(steps);
  }
  auto splits = PreTokenizer::read(pre_tokenizer);
  if (!splits) {
    return pass_on(splits);
  }
  parts.encoder = std::make_unique<GenericEncoder>(std::move(*steps), std::move(*splits),
                                                   std::move(pieces), std::move(late));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> load_tokenizer_json(std::string_view json) {
  auto file = base::parse_json(json, "tokenizer.json");
  if (!file) {
    return pass_on(file);
  }
  const Json* model = member(*file, "model");
  if (model == nullptr || !model->is_object()) {
    return fail(Code::InvalidData, "tokenizer.json: 'model' is missing");
  }
  TokenizerParts parts;
  auto added = read_added_tokens(*file);
  if (!added) {
    return pass_on(added);
  }
  parts.added = std::move(*added);
  if (auto done = read_encoder(*file, *model, parts); !done) {
    return pass_on(done);
  }
  for (const AddedToken& token : parts.added) {
    if (auto done = put_token(parts.tokens, token.content, token.id); !done) {
      return pass_on(done);
    }
  }
  if (auto done = read_post_processor(member(*file, "post_processor"), parts); !done) {
    return pass_on(done);
  }
  parts.padding_id = find_padding(*file, parts);
  return std::make_shared<const PipelineTokenizer>(std::move(parts));
}

Result<std::shared_ptr<const Tokenizer>> load_wordpiece_vocabulary(
    std::string_view vocabulary, const WordPieceOptions& options) {
  TokenizerParts parts;
  std::vector<std::pair<std::string_view, int32_t>> entries;
  while (!vocabulary.empty()) {
    std::string_view line = vocabulary.substr(0, vocabulary.find('\n'));
    vocabulary.remove_prefix(std::min(vocabulary.size(), line.size() + 1));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    entries.emplace_back(line, static_cast<int32_t>(parts.tokens.size()));
    parts.tokens.emplace_back(line);
  }
  parts.vocabulary = std::make_shared<const Trie>(std::move(entries));
  const Trie& tokens = *parts.vocabulary;
  const int32_t unknown = tokens.find("[UNK]");
  if (unknown < 0) {
    return fail(Code::InvalidData, "vocab.txt: [UNK] is missing; one token stands on each line");
  }
  for (const std::string_view name : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    if (const int32_t id = tokens.find(name); id >= 0) {
      parts.added.push_back({.id = id, .content = std::string(name)});
    }
  }
  if (tokens.find("[CLS]") >= 0 && tokens.find("[SEP]") >= 0) {
    parts.before = {tokens.find("[CLS]")};
    parts.after = {tokens.find("[SEP]")};
  }
  parts.unknown_id = unknown;
  parts.padding_id = tokens.find("[PAD]");
  auto model = std::make_shared<const WordPieceModel>(
      parts.vocabulary, WordPieceModel::Settings{.unknown_id = unknown});
  parts.encoder = std::make_unique<BertWordPiece>(
      BertOptions{.strip_accents = options.strip_accents, .lowercase = options.lowercase},
      std::move(model));
  return std::make_shared<const PipelineTokenizer>(std::move(parts));
}

}  // namespace sibyl::text
