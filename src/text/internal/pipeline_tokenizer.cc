#include "text/internal/pipeline_tokenizer.h"

#include <algorithm>

namespace sibyl::text {

namespace {

std::vector<AddedToken> raw_only(std::vector<AddedToken> tokens) {
  std::erase_if(tokens, [](const AddedToken& token) { return token.normalized; });
  return tokens;
}

}  // namespace

PipelineTokenizer::PipelineTokenizer(TokenizerParts parts)
    : parts_(std::move(parts)), raw_added_(raw_only(parts_.added)) {}

int32_t PipelineTokenizer::token_id(std::string_view token) const {
  for (const AddedToken& added : parts_.added) {
    if (added.content == token) {
      return added.id;
    }
  }
  return parts_.vocabulary->find(token);
}

std::string_view PipelineTokenizer::token(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < parts_.tokens.size()
             ? parts_.tokens[static_cast<size_t>(id)]
             : std::string_view();
}

void PipelineTokenizer::encode_text(std::string_view text, TokenSink& sink) const {
  for (size_t done = 0; done < text.size() && !sink.full();) {
    const AddedTokens::Cut cut = raw_added_.find(text, done, done);
    if (cut.begin > done) {
      parts_.encoder->encode(text.substr(done, cut.begin - done), static_cast<uint32_t>(done),
                             sink);
    }
    if (cut.id >= 0 && !sink.full()) {
      sink.add(cut.id, static_cast<uint32_t>(cut.begin), static_cast<uint32_t>(cut.end));
    }
    done = cut.end;
  }
}

void PipelineTokenizer::tokenize(std::string_view text, const TokenizeOptions& options,
                                 Tokens& out) const {
  out.ids.clear();
  out.begins.clear();
  out.ends.clear();
  out.truncated = false;
  const auto add_special = [&](const std::vector<int32_t>& ids, size_t room) {
    const size_t count = std::min(room, ids.size());
    out.ids.insert(out.ids.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
    if (options.offsets) {
      out.begins.resize(out.ids.size(), 0);
      out.ends.resize(out.ids.size(), 0);
    }
  };
  if (!options.special_tokens) {
    TokenSink sink(out, options.tokens_max, options.offsets);
    encode_text(text, sink);
    return;
  }
  add_special(parts_.before, options.tokens_max);
  TokenSink sink(out, options.tokens_max - std::min(options.tokens_max, parts_.after.size()),
                 options.offsets);
  encode_text(text, sink);
  add_special(parts_.after, options.tokens_max - out.ids.size());
}

}  // namespace sibyl::text
