#include "answer/query_json.h"

#include "answer/internal/query_reply_json.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace sibyl::answer {
namespace {

void write_retrievals(const Answer& answer, base::JsonWriter& writer) {
  writer.begin_object();
  for (size_t r = 0; r < kRetrievals; ++r) {
    const RetrievalScore& score = answer.retrievals[r];
    if (!score.used) {
      continue;
    }
    writer.key(kRetrievalNames[r]).begin_object();
    writer.key("score").number(score.score);
    writer.key("rank");
    if (score.rank == 0) {
      writer.null();
    } else {
      writer.integer(score.rank);
    }
    writer.end_object();
  }
  writer.end_object();
}

void write_answer(const Answer& answer, base::JsonWriter& writer) {
  writer.begin_object();
  writer.key("id").text(answer.id);
  writer.key("passage_id").text(answer.passage_id);
  writer.key("score").number(answer.score);
  writer.key("title").text(answer.title);
  writer.key("headings").begin_array();
  for (const std::string& heading : answer.headings) {
    writer.text(heading);
  }
  writer.end_array();
  writer.key("text").text(answer.text);
  writer.key("bytes").begin_object();
  writer.key("start").integer(answer.begin);
  writer.key("end").integer(answer.end);
  writer.end_object();
  writer.key("url").text(answer.url);
  writer.key("metadata").raw(answer.metadata.empty() ? "{}" : answer.metadata);
  writer.key("span");
  if (answer.span) {
    const Span& span = *answer.span;
    writer.begin_object();
    writer.key("text").text(span.text);
    writer.key("start").integer(
        static_cast<int64_t>(internal::characters_of_bytes(answer.text, span.begin)));
    writer.key("end").integer(
        static_cast<int64_t>(internal::characters_of_bytes(answer.text, span.end)));
    writer.key("score").number(span.score);
    writer.end_object();
  } else {
    writer.null();
  }
  writer.key("retrievals");
  write_retrievals(answer, writer);
  writer.end_object();
}

}  // namespace

Result<QueryRequest> query_request_from_json(std::string_view body) {
  auto json = base::parse_json(body, "query");
  if (!json) {
    return pass_on(json);
  }
  if (!json->is_object()) {
    return fail(Code::InvalidArgument, "query: is not an object; {{\"question\": \"…\"}} is right");
  }
  base::JsonFields fields(*json);
  QueryRequest request;
  request.question = fields.required_text("question");
  request.top = static_cast<size_t>(fields.integer("top", 5, 1, 1000));
  request.filter = fields.text("filter");
  request.pipeline = fields.text("pipeline");
  request.explain = fields.boolean("explain", false);
  request.spans = fields.boolean("spans", true);
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  return request;
}

std::string query_request_to_json(const QueryRequest& request) {
  std::string out;
  base::JsonWriter writer(out);
  writer.begin_object();
  writer.key("question").text(request.question);
  writer.key("top").integer(static_cast<int64_t>(request.top));
  if (!request.filter.empty()) {
    writer.key("filter").text(request.filter);
  }
  if (!request.pipeline.empty()) {
    writer.key("pipeline").text(request.pipeline);
  }
  writer.key("explain").boolean(request.explain);
  if (!request.spans) {
    writer.key("spans").boolean(false);
  }
  writer.end_object();
  return out;
}

std::string query_reply_to_json(const QueryReply& reply, bool explain) {
  std::string out;
  base::JsonWriter writer(out);
  writer.begin_object();
  writer.key("answers").begin_array();
  for (const Answer& answer : reply.answers) {
    write_answer(answer, writer);
  }
  writer.end_array();
  writer.key("collection").text(reply.collection);
  writer.key("model").text(reply.model);
  writer.key("pipeline").text(reply.pipeline);
  if (explain) {
    writer.key("blend").text(reply.blend);
  }
  if (!reply.notice.empty()) {
    writer.key("notice").text(reply.notice);
  }
  if (reply.without_model) {
    writer.key("without_model").boolean(true);
  }
  writer.key("took_ms").number(reply.took_ms);
  writer.end_object();
  return out;
}

}  // namespace sibyl::answer
