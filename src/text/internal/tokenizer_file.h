#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/internal/bert_splitter.h"
#include "text/internal/pipeline_tokenizer.h"
#include "text/internal/unigram.h"
#include "text/internal/wordpiece.h"
#include "text/utf8.h"

namespace sibyl::text {

/// Reads the parts of a tokenizer.json one by one; every error names the part.
/// Members of a JSON object, or nullptr.
const base::Json* member(const base::Json& object, std::string_view name);
/// The string at `name`, or `otherwise`.
std::string text_at(const base::Json& object, std::string_view name, std::string otherwise = {});
bool flag_at(const base::Json& object, std::string_view name, bool otherwise);
/// "type" of a component; empty for null and what is no object.
std::string type_of(const base::Json* component);

Result<std::vector<AddedToken>> read_added_tokens(const base::Json& file);
/// Fills `before` and `after` from the post-processor.
Result<void> read_post_processor(const base::Json* processor, TokenizerParts& parts);
BertOptions read_bert_options(const base::Json& normalizer);

/// {"type": "WordPiece", ...}: fills tokens, vocabulary and unknown id.
Result<std::shared_ptr<const WordPieceModel>> read_wordpiece(const base::Json& model,
                                                             TokenizerParts& parts);

/// {"type": "Unigram", "vocab": [["piece", score], ...], ...}: the same.
Result<std::shared_ptr<const UnigramModel>> read_unigram(const base::Json& model,
                                                         TokenizerParts& parts);

/// Puts names at their ids; refuses ids that are negative, too large or used twice.
Result<void> put_token(std::vector<std::string>& tokens, std::string_view name, int64_t id);

}  // namespace sibyl::text
