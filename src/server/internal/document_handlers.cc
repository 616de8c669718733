#include <algorithm>
#include <set>
#include <utility>

#include "answer/query_json.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/metrics.h"
#include "server/internal/handlers.h"
#include "server/internal/replies.h"

namespace sibyl::server {
namespace {

constexpr size_t kPageLimit = 100;
constexpr size_t kPageLimitMax = 1000;
/// Documents may be large: a page is fetched in steps and ends when it holds this much.
constexpr size_t kPageStep = 50;
constexpr size_t kPageBytesMax = size_t{32} << 20;

void count_documents(const answer::AddReport& report) {
  const auto count = [](const char* outcome, uint64_t documents) {
    base::metrics()
        .counter("sibyl_documents_total", "Documents that were sent, by what became of them",
                 {{"outcome", outcome}})
        .add(static_cast<double>(documents));
  };
  count("added", report.added);
  count("updated", report.updated);
  count("unchanged", report.unchanged);
  count("failed", report.failed.size());
}

std::string id_of(std::string_view document) {
  const auto json = base::parse_json(document);
  if (!json || !json->is_object()) {
    return {};
  }
  const auto id = json->find("id");
  return id != json->end() && id->is_string() ? id->get<std::string>() : std::string();
}

/// The query parameter `origins`, a JSON array of texts; without it the place is not said.
Result<std::set<std::string>> origins_of(const Call& call) {
  const std::string given = call.parameter("origins");
  if (given.empty()) {
    return std::set<std::string>{std::string()};
  }
  const auto json = base::parse_json(given, "origins");
  std::set<std::string> origins;
  bool right = json && json->is_array() && !json->empty();
  if (right) {
    for (const base::Json& origin : *json) {
      right = right && origin.is_string();
      origins.insert(right ? origin.get<std::string>() : std::string());
    }
  }
  return right ? Result<std::set<std::string>>(std::move(origins))
               : fail_field(Code::InvalidArgument, "origins",
                            "origins: '{}' is not right; a JSON array of texts is", given);
}

}  // namespace

Result<Response> add_documents(Services& services, const Call& call) {
  const auto origins = origins_of(call);
  if (!origins) {
    return tl::unexpected<Error>(origins.error());
  }
  auto report =
      services.answers->add_from(*origins, call.captures[0], call.request.body, call.stop);
  if (!report) {
    return pass_on(report);
  }
  count_documents(*report);
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("added").integer(static_cast<int64_t>(report->added));
  json.key("updated").integer(static_cast<int64_t>(report->updated));
  json.key("unchanged").integer(static_cast<int64_t>(report->unchanged));
  if (report->waiting > 0) {
    json.key("waiting").integer(static_cast<int64_t>(report->waiting));
  }
  json.key("failed").begin_array();
  for (const answer::FailedRow& row : report->failed) {
    json.begin_object().key("line").integer(static_cast<int64_t>(row.line));
    json.key("id").text(row.id).key("error").text(row.error.message);
    json.key("code").text(code_name(row.error.code)).key("field").text(row.error.field);
    json.end_object();
  }
  json.end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> list_documents(Services& services, const Call& call) {
  const auto limit = call.count("limit", kPageLimit, 1, kPageLimitMax);
  if (!limit) {
    return tl::unexpected<Error>(limit.error());
  }
  std::string after = call.parameter("after");
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("documents").begin_array();
  size_t listed = 0;
  bool more = true;
  while (more && listed < *limit && body.size() < kPageBytesMax) {
    const size_t step = std::min<size_t>(kPageStep, *limit - listed);
    const auto documents = services.answers->documents(call.captures[0], after, step);
    if (!documents) {
      return tl::unexpected<Error>(documents.error());
    }
    for (const std::string& document : *documents) {
      json.raw(document);
    }
    listed += documents->size();
    more = documents->size() == step;
    if (!documents->empty()) {
      after = id_of(documents->back());
    }
  }
  json.end_array().key("next");
  more ? json.text(after) : json.null();
  json.end_object();
  return json_response(200, std::move(body));
}

Result<Response> get_document(Services& services, const Call& call) {
  auto document = services.answers->document(call.captures[0], call.captures[1]);
  if (!document) {
    return pass_on(document);
  }
  return json_response(200, std::move(*document));
}

Result<Response> delete_document(Services& services, const Call& call) {
  const auto removed = services.answers->remove(call.captures[0], call.captures[1]);
  if (!removed) {
    return tl::unexpected<Error>(removed.error());
  }
  if (!*removed) {
    return fail_field(Code::NotFound, "id", "there is no document '{}' in collection '{}'",
                      call.captures[1], call.captures[0]);
  }
  return empty_response(204);
}

Result<Response> query_collection(Services& services, const Call& call) {
  const auto request = answer::query_request_from_json(call.request.body);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  const auto reply = services.answers->query(call.captures[0], *request, call.stop);
  if (!reply) {
    return tl::unexpected<Error>(reply.error());
  }
  base::metrics().counter("sibyl_questions_total", "Questions answered").add();
  base::metrics()
      .histogram("sibyl_question_seconds", "Time to answer a question",
                 {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5})
      .observe(reply->took_ms / 1000);
  return json_response(200, answer::query_reply_to_json(*reply, request->explain));
}

}  // namespace sibyl::server
