#include "answer/answer_service.h"

#include <unordered_map>

#include <fmt/format.h>

#include "answer/internal/document_writer.h"
#include "answer/internal/local_answer_service.h"
#include "answer/internal/question.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_rows.h"
#include "base/metrics.h"

namespace sibyl::answer {
namespace internal {

Result<StatePointer> LocalAnswerService::state(const std::string& collection) {
  const std::lock_guard lock(states_mutex_);
  if (const auto known = states_.find(collection); known != states_.end()) {
    return known->second;
  }
  auto rows = database_.find(collection);
  if (!rows) {
    return pass_on(rows);
  }
  auto analyzer = text::Analyzer::create((*rows)->schema().language);
  if (!analyzer) {
    return pass_on(analyzer, fmt::format("collection '{}'", collection));
  }
  auto made = std::make_shared<CollectionState>(*rows, *analyzer);
  states_.emplace(collection, made);
  return made;
}

Result<StatePointer> LocalAnswerService::state_or_new(const std::string& collection) {
  auto known = state(collection);
  if (known || known.error().code != Code::NotFound) {
    return known;
  }
  return create_state(collection, {}, false);
}

namespace {

/// The id that a wrong row had all the same, so that its sender can find it; empty when it had
/// none.
std::string given_id(std::string_view row) {
  const auto json = base::parse_json(row);
  if (!json || !json->is_object()) {
    return {};
  }
  const auto id = json->find("id");
  return id != json->end() && id->is_string() ? id->get<std::string>() : std::string();
}

}  // namespace

Result<AddReport> LocalAnswerService::add_from(const std::set<std::string>& origins,
                                               const std::string& collection, std::string_view body,
                                               std::stop_token stop) {
  auto rows = base::split_json_rows(body, kAddRowsMax);
  if (!rows) {
    return pass_on(rows);
  }
  auto there = state_or_new(collection);
  if (!there) {
    return pass_on(there);
  }
  if (auto noted = note_origins(**there, origins); !noted) {
    return pass_on(noted);
  }
  AddReport report;
  DocumentWriter writer(**there, encoders_, DocumentWriter::Away::Wait, stop);
  std::unordered_map<std::string, uint64_t> lines;
  for (const base::JsonRow& row : *rows) {
    auto document = parse_document(row.text, content_id(row.text));
    if (!document) {
      report.failed.push_back({row.line, given_id(row.text), document.error()});
      continue;
    }
    const auto [first, is_new] = lines.emplace(document->id, row.line);
    if (!is_new) {
      report.failed.push_back(
          {row.line, document->id,
           Error{Code::InvalidData,
                 fmt::format("id: '{}' of line {} stands on line {} already; ids must differ",
                             document->id, row.line, first->second),
                 "id"}});
      continue;
    }
    if (auto added = writer.add({row.line, std::move(*document)}, report); !added) {
      return pass_on(added);
    }
  }
  if (auto flushed = writer.flush(report); !flushed) {
    return pass_on(flushed);
  }
  return report;
}

Result<bool> LocalAnswerService::remove(const std::string& collection, const std::string& id) {
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  std::vector<store::Change> changes(1);
  changes[0].kind = store::Change::Kind::Delete;
  changes[0].row.id = id;
  auto receipt = (*there)->rows().write(std::move(changes));
  if (!receipt) {
    return pass_on(receipt);
  }
  return receipt->outcomes.front() == store::Outcome::Deleted;
}

Result<std::string> LocalAnswerService::document(const std::string& collection,
                                                 const std::string& id) {
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  const auto snapshot = (*there)->rows().snapshot();
  const auto ref = snapshot->find(id);
  if (!ref) {
    return fail_field(Code::NotFound, "id", "collection '{}' has no document '{}'", collection, id);
  }
  auto row = snapshot->row(*ref);
  if (!row) {
    return pass_on(row);
  }
  return std::string(row->source);
}

Result<std::vector<std::string>> LocalAnswerService::documents(const std::string& collection,
                                                               const std::string& after,
                                                               size_t limit) {
  if (limit < 1 || limit > kListedDocumentsMax) {
    return fail_field(Code::InvalidArgument, "limit", "limit: {} is not between 1 and {}", limit,
                      kListedDocumentsMax);
  }
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  const auto snapshot = (*there)->rows().snapshot();
  auto refs = snapshot->list(after, limit);
  if (!refs) {
    return pass_on(refs);
  }
  std::vector<std::string> sources;
  for (const store::RowRef ref : *refs) {
    auto row = snapshot->row(ref);
    if (!row) {
      return pass_on(row);
    }
    sources.emplace_back(row->source);
  }
  return sources;
}

namespace {

/// What the asker should know about how the question was answered.
std::string notice_of(bool has_vectors, const std::string& awaited, const std::string& away) {
  if (!away.empty()) {
    return fmt::format("answered by BM25 alone: {}", away);
  }
  if (has_vectors) {
    return {};
  }
  return awaited.empty()
             ? "no model: answered by BM25 alone"
             : fmt::format("model '{}' is not there yet: answered by BM25 alone", awaited);
}

}  // namespace

Result<QueryReply> LocalAnswerService::query(const std::string& collection,
                                             const QueryRequest& request, std::stop_token stop) {
  const int64_t start_us = base::system_clock().steady_us();
  if (auto right = check_request(request); !right) {
    return pass_on(right);
  }
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  auto stored = (*there)->settings();
  if (!stored) {
    return pass_on(stored);
  }
  const auto snapshot = (*there)->rows().snapshot();
  const store::Schema& schema = snapshot->schema();
  const bool has_vectors = !schema.vector_fields.empty();
  const auto pipeline = resolve_pipeline(
      request.pipeline.empty() ? stored->settings.pipeline : request.pipeline,
      has_vectors ? encoders_.pipelines(schema.model) : std::map<std::string, std::string>{},
      has_vectors);
  if (!pipeline) {
    return fail_field(pipeline.error().code, pipeline.error().field, "{}",
                      pipeline.error().message);
  }
  auto outcome =
      run_question({*snapshot, *pipeline, (*there)->analyzer(), encoders_}, request, stop);
  if (!outcome) {
    return pass_on(outcome);
  }
  QueryReply reply;
  reply.answers = std::move(outcome->answers);
  reply.collection = collection;
  reply.model = schema.model;
  reply.pipeline = pipeline->name;
  reply.blend = pipeline->blend->text();
  reply.notice = notice_of(has_vectors, stored->awaited_model, outcome->away);
  reply.without_model = !outcome->away.empty();
  if (reply.without_model) {
    reply.pipeline = "bm25";
    reply.blend = default_pipelines().at("bm25");
    base::metrics()
        .counter("sibyl_questions_without_model_total",
                 "Questions answered by BM25 alone because the model could not be asked")
        .add();
  }
  reply.took_ms = static_cast<double>(base::system_clock().steady_us() - start_us) / 1000.0;
  return reply;
}

}  // namespace internal

std::unique_ptr<AnswerService> AnswerService::create(store::Database& database,
                                                     EncoderSource& encoders) {
  auto service = std::make_unique<internal::LocalAnswerService>(database, encoders);
  service->resume_switches();
  return service;
}

}  // namespace sibyl::answer
