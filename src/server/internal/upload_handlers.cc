#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/metrics.h"
#include "server/internal/handlers.h"
#include "server/internal/replies.h"

namespace sibyl::server {
namespace {

constexpr size_t kQuestionBytesMax = 65536;
constexpr size_t kPageLimit = 1000;
constexpr size_t kPageLimitMax = 10000;

/// "faq#1#2" is passage 2 of document "faq#1".
Result<std::string> document_of(const std::string& passage_id) {
  const size_t hash = passage_id.rfind('#');
  const std::string_view digits = hash == std::string::npos
                                      ? std::string_view()
                                      : std::string_view(passage_id).substr(hash + 1);
  if (hash == 0 || digits.empty() ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return fail_field(Code::InvalidArgument, "passage_id",
                      "'{}' is no passage id; give the 'passage_id' of an answer, as DOCUMENT#0",
                      passage_id);
  }
  return passage_id.substr(0, hash);
}

Result<FeedbackRow> parse_feedback(std::string_view body) {
  const auto json = base::parse_json(body, "the body");
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  base::JsonFields fields(*json);
  FeedbackRow row;
  row.collection = fields.required_text("collection");
  row.question = fields.required_text("question");
  row.passage_id = fields.required_text("passage_id");
  row.good = fields.boolean("good", true);
  if (auto finished = fields.finish(); !finished) {
    return pass_on(finished);
  }
  if (row.question.size() > kQuestionBytesMax) {
    return fail_field(Code::TooLarge, "question", "the question has {} bytes; at most {} are kept",
                      row.question.size(), kQuestionBytesMax);
  }
  auto document = document_of(row.passage_id);
  if (!document) {
    return pass_on(document);
  }
  row.answer_id = std::move(*document);
  return row;
}

}  // namespace

Result<Response> create_upload(Services& services, const Call& call) {
  const std::string name = call.parameter("name");
  if (call.request.body.empty()) {
    return fail(Code::InvalidArgument, "the body is empty; it must be the file's bytes");
  }
  const auto upload = services.uploads->put(name, call.request.body, base::system_clock().now_us());
  if (!upload) {
    return tl::unexpected<Error>(upload.error());
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("id").text(upload->id);
  json.key("bytes").integer(static_cast<int64_t>(upload->bytes)).key("name").text(name);
  json.end_object();
  return json_response(201, std::move(body));
}

Result<Response> list_uploads(Services& services, const Call&) {
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("uploads").begin_array();
  for (const UploadInfo& upload : services.uploads->list()) {
    json.begin_object().key("id").text(upload.id);
    json.key("bytes").integer(static_cast<int64_t>(upload.bytes));
    json.key("created").text(base::format_time(upload.created_us)).end_object();
  }
  json.end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> delete_upload(Services& services, const Call& call) {
  if (auto removed = services.uploads->remove(call.captures[0]); !removed) {
    return pass_on(removed);
  }
  return empty_response(204);
}

Result<Response> add_feedback(Services& services, const Call& call) {
  auto row = parse_feedback(call.request.body);
  if (!row) {
    return pass_on(row);
  }
  // A judgement of something that is not there would be a training row without a passage.
  if (const auto document = services.answers->document(row->collection, row->answer_id);
      !document) {
    return tl::unexpected<Error>(document.error());
  }
  row->time = base::format_time(base::system_clock().now_us());
  if (auto kept = services.feedback->append(*row); !kept) {
    return pass_on(kept);
  }
  base::metrics()
      .counter("sibyl_feedback_total", "Judgements of passages",
               {{"good", row->good ? "true" : "false"}})
      .add();
  return json_response(201, feedback_to_json(*row));
}

Result<Response> list_feedback(Services& services, const Call& call) {
  const std::string collection = call.parameter("collection");
  const std::string format = call.parameter("format");
  if (!format.empty() && format != "rows" && format != "pairs") {
    return fail_field(Code::InvalidArgument, "format", "'format' is '{}'; it must be rows or pairs",
                      format);
  }
  if (format == "pairs") {
    auto pairs = services.feedback->pairs(collection);
    if (!pairs) {
      return pass_on(pairs);
    }
    Response response = json_response(200, std::move(*pairs));
    response.content_type = "application/jsonl";
    return response;
  }
  const auto after = call.count("after", 0, 0, UINT64_MAX);
  const auto limit = call.count("limit", kPageLimit, 1, kPageLimitMax);
  if (!after || !limit) {
    return tl::unexpected<Error>(!after ? after.error() : limit.error());
  }
  const auto page = services.feedback->list(collection, *after, *limit);
  if (!page) {
    return tl::unexpected<Error>(page.error());
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("feedback").begin_array();
  for (const std::string& line : page->lines) {
    json.raw(line);
  }
  json.end_array().key("next");
  page->next == 0 ? json.null() : json.integer(static_cast<int64_t>(page->next));
  json.end_object();
  return json_response(200, std::move(body));
}

}  // namespace sibyl::server
