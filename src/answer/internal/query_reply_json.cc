#include "answer/internal/query_reply_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "answer/query_json.h"
#include "base/json.h"
#include "text/utf8.h"

namespace sibyl::answer {
namespace internal {

size_t characters_of_bytes(std::string_view text, size_t bytes) {
  return text::code_points(text.substr(0, std::min(bytes, text.size())));
}

size_t bytes_of_characters(std::string_view text, size_t characters) {
  size_t position = 0;
  for (size_t i = 0; i < characters && position < text.size(); ++i) {
    text::next_code_point(text, position);
  }
  return position;
}

}  // namespace internal

namespace {

using base::Json;

constexpr int64_t kOffsetMax = UINT32_MAX;

Result<std::optional<Span>> read_span(const Json* json, const std::string& text) {
  if (json == nullptr) {
    return std::optional<Span>{};
  }
  base::JsonFields fields(*json, "span", Code::InvalidData);
  Span span;
  span.text = fields.text("text");
  span.begin = static_cast<uint32_t>(internal::bytes_of_characters(
      text, static_cast<size_t>(fields.integer("start", 0, 0, kOffsetMax))));
  span.end = static_cast<uint32_t>(internal::bytes_of_characters(
      text, static_cast<size_t>(fields.integer("end", 0, 0, kOffsetMax))));
  span.score = fields.number("score", 0, -1e300, 1e300);
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  return span;
}

Result<void> read_retrievals(const Json* json, Answer& answer) {
  if (json == nullptr) {
    return {};
  }
  base::JsonFields all(*json, "retrievals", Code::InvalidData);
  for (size_t r = 0; r < kRetrievals; ++r) {
    const Json* one = all.object(kRetrievalNames[r]);
    if (one == nullptr) {
      continue;
    }
    base::JsonFields fields(*one, std::string(kRetrievalNames[r]), Code::InvalidData);
    answer.retrievals[r].used = true;
    answer.retrievals[r].score = static_cast<float>(fields.number("score", 0, -1e300, 1e300));
    answer.retrievals[r].rank = static_cast<uint32_t>(fields.integer("rank", 0, 0, kOffsetMax));
    if (auto done = fields.finish(); !done) {
      return done;
    }
  }
  return all.finish();
}

Result<Answer> read_answer(const Json& json) {
  base::JsonFields fields(json, "answers", Code::InvalidData);
  Answer answer;
  answer.id = fields.text("id");
  answer.passage_id = fields.text("passage_id");
  answer.score = fields.number("score", 0, std::numeric_limits<double>::lowest(),
                               std::numeric_limits<double>::max());
  answer.title = fields.text("title");
  answer.headings = fields.texts("headings");
  answer.text = fields.text("text");
  answer.url = fields.text("url");
  const Json* metadata = fields.object("metadata");
  answer.metadata = metadata == nullptr ? "{}" : base::dump_json(*metadata);
  if (const Json* bytes = fields.object("bytes"); bytes != nullptr) {
    base::JsonFields range(*bytes, "bytes", Code::InvalidData);
    answer.begin = static_cast<uint32_t>(range.integer("start", 0, 0, kOffsetMax));
    answer.end = static_cast<uint32_t>(range.integer("end", 0, 0, kOffsetMax));
    if (auto done = range.finish(); !done) {
      return pass_on(done);
    }
  }
  auto span = read_span(fields.object("span"), answer.text);
  if (!span) {
    return pass_on(span);
  }
  answer.span = std::move(*span);
  if (auto read = read_retrievals(fields.object("retrievals"), answer); !read) {
    return pass_on(read);
  }
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  return answer;
}

}  // namespace

Result<QueryReply> query_reply_from_json(std::string_view body) {
  auto json = base::parse_json(body, "reply");
  if (!json) {
    return pass_on(json);
  }
  if (!json->is_object()) {
    return fail(Code::InvalidData, "reply: is not an object");
  }
  base::JsonFields fields(*json, {}, Code::InvalidData);
  QueryReply reply;
  reply.collection = fields.text("collection");
  reply.model = fields.text("model");
  reply.pipeline = fields.text("pipeline");
  reply.blend = fields.text("blend");
  reply.notice = fields.text("notice");
  reply.without_model = fields.boolean("without_model", false);
  reply.took_ms = fields.number("took_ms", 0, 0, 1e300);
  const Json* answers = fields.value("answers");
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  if (answers == nullptr || !answers->is_array()) {
    return fail_field(Code::InvalidData, "answers", "answers: is no list");
  }
  for (const Json& item : *answers) {
    if (!item.is_object()) {
      return fail_field(Code::InvalidData, "answers", "answers: holds something that is no object");
    }
    auto answer = read_answer(item);
    if (!answer) {
      return pass_on(answer);
    }
    reply.answers.push_back(std::move(*answer));
  }
  return reply;
}

}  // namespace sibyl::answer
