#include "answer/answer_service.h"

#include <map>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "answer/internal/collection_state.h"
#include "answer/internal/document_writer.h"
#include "answer/internal/model_switch.h"
#include "answer/internal/question.h"
#include "base/clock.h"
#include "base/json_rows.h"
#include "base/log.h"

namespace sibyl::answer {
namespace {

using internal::CollectionState;
using internal::StoredSettings;
using StatePointer = std::shared_ptr<CollectionState>;

class LocalAnswerService final : public AnswerService {
 public:
  LocalAnswerService(store::Database& database, EncoderSource& encoders)
      : database_(database), encoders_(encoders) {}

  Result<AddReport> add(const std::string& collection, std::string_view body,
                        std::stop_token stop) override;
  Result<bool> remove(const std::string& collection, const std::string& id) override;
  Result<std::string> document(const std::string& collection, const std::string& id) override;
  Result<std::vector<std::string>> documents(const std::string& collection,
                                             const std::string& after, size_t limit) override;
  Result<QueryReply> query(const std::string& collection, const QueryRequest& request,
                           std::stop_token stop) override;
  std::vector<std::string> collections() override { return database_.names(); }
  Result<CollectionInfo> info(const std::string& collection) override;
  Result<bool> put_collection(const std::string& collection, const base::Json& settings,
                              bool wait) override;
  Result<void> rollback(const std::string& collection, bool wait) override;
  Result<void> drop(const std::string& collection) override;
  Result<void> compact(const std::string& collection, std::stop_token stop) override;

  /// Goes on with re-encodings that the end of the process before cut off.
  void resume_switches();

 private:
  Result<StatePointer> state(const std::string& collection);
  Result<StatePointer> state_or_new(const std::string& collection);
  Result<StatePointer> create_state(const std::string& collection, CollectionSettings settings,
                                    bool model_given);
  Result<void> begin_switch(CollectionState& state, StoredSettings stored,
                            const std::string& target);
  Result<bool> change_settings(CollectionState& state, const base::Json& given);

  store::Database& database_;
  EncoderSource& encoders_;
  std::mutex states_mutex_;
  std::map<std::string, StatePointer> states_;
};

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

/// `model_given`: settings.model is what the caller wants, empty for none; else the default model.
Result<StatePointer> LocalAnswerService::create_state(const std::string& collection,
                                                      CollectionSettings settings,
                                                      bool model_given) {
  std::shared_ptr<encoder::Encoder> encoder;
  if (!model_given || !settings.model.empty()) {
    auto found = encoders_.find(settings.model);
    if (found) {
      encoder = *found;
      settings.model = encoder->info().reference();
    } else if (model_given || found.error().code != Code::FailedPrecondition) {
      return pass_on(found);
    }
  }
  StoredSettings stored;
  stored.settings = settings;
  auto created = database_.create(collection, internal::make_schema(settings, encoder.get()),
                                  internal::settings_to_json(stored));
  if (!created && created.error().code != Code::AlreadyExists) {
    return pass_on(created);
  }
  return state(collection);
}

Result<StatePointer> LocalAnswerService::state_or_new(const std::string& collection) {
  auto known = state(collection);
  if (known || known.error().code != Code::NotFound) {
    return known;
  }
  return create_state(collection, {}, false);
}

Result<AddReport> LocalAnswerService::add(const std::string& collection, std::string_view body,
                                          std::stop_token stop) {
  auto rows = base::split_json_rows(body, kAddRowsMax);
  if (!rows) {
    return pass_on(rows);
  }
  auto there = state_or_new(collection);
  if (!there) {
    return pass_on(there);
  }
  AddReport report;
  internal::DocumentWriter writer(**there, encoders_, stop);
  std::unordered_map<std::string, uint64_t> lines;
  for (const base::JsonRow& row : *rows) {
    auto document = parse_document(row.text, content_id(row.text));
    if (!document) {
      report.failed.push_back({row.line, {}, document.error()});
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

Result<QueryReply> LocalAnswerService::query(const std::string& collection,
                                             const QueryRequest& request, std::stop_token stop) {
  const int64_t start_us = base::system_clock().steady_us();
  if (auto right = internal::check_request(request); !right) {
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
  auto answers = internal::run_question({*snapshot, *pipeline, (*there)->analyzer(), encoders_},
                                        request, stop);
  if (!answers) {
    return pass_on(answers);
  }
  QueryReply reply;
  reply.answers = std::move(*answers);
  reply.collection = collection;
  reply.model = schema.model;
  reply.pipeline = pipeline->name;
  reply.blend = pipeline->blend->text();
  reply.notice = has_vectors ? "" : "no model: answered by BM25 alone";
  reply.took_ms = static_cast<double>(base::system_clock().steady_us() - start_us) / 1000.0;
  return reply;
}

Result<CollectionInfo> LocalAnswerService::info(const std::string& collection) {
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  auto stored = (*there)->settings();
  if (!stored) {
    return pass_on(stored);
  }
  CollectionInfo info;
  info.name = collection;
  info.settings = stored->settings;
  info.statistics = (*there)->rows().statistics();
  const internal::SwitchProgress progress = (*there)->progress();
  if (progress.running) {
    info.switching_to = progress.target;
    info.switched_share = progress.total == 0 ? 0
                                              : static_cast<double>(progress.done) /
                                                    static_cast<double>(progress.total);
  } else if (!progress.outcome) {
    info.switch_error = progress.outcome.error().message;
  }
  return info;
}

/// The caller holds the settings mutex.
Result<void> LocalAnswerService::begin_switch(CollectionState& state, StoredSettings stored,
                                              const std::string& target) {
  stored.is_switching = true;
  stored.pending_model = target;
  if (auto set = state.rows().set_settings(internal::settings_to_json(stored)); !set) {
    return set;
  }
  return state.start_background(target, [this, &state](const std::stop_token& stop) {
    return internal::run_pending_switch(state, encoders_, stop);
  });
}

/// True when background work was begun, or runs already for the same model.
Result<bool> LocalAnswerService::change_settings(CollectionState& state, const base::Json& given) {
  const std::lock_guard lock(state.settings_mutex());
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  auto change = internal::merge_settings(stored->settings, given);
  if (!change) {
    return pass_on(change);
  }
  CollectionSettings& next = change->merged;
  if (next.language != stored->settings.language) {
    return fail_field(
        Code::FailedPrecondition, "language",
        "language: collection '{}' was created in '{}' and its words were indexed so; "
        "make a new collection for '{}'",
        state.rows().name(), stored->settings.language, next.language);
  }
  std::string target = state.rows().schema().model;
  if (change->has_model) {
    target = next.model;
    if (!target.empty()) {
      auto encoder = encoders_.find(target);
      if (!encoder) {
        return pass_on(encoder);
      }
      target = (*encoder)->info().reference();
    }
  }
  if (auto pipeline = resolve_pipeline(next.pipeline, encoders_.pipelines(target), true);
      !pipeline) {
    return fail_field(pipeline.error().code, "pipeline", "{}", pipeline.error().message);
  }
  const bool derives_anew =
      internal::derivation_of(next) != internal::derivation_of(stored->settings);
  const internal::SwitchProgress progress = state.progress();
  next.model = stored->settings.model;  // Until the vectors are swapped.
  if (progress.running) {
    const bool same = change->has_model && progress.target == target && !derives_anew &&
                      next.pipeline == stored->settings.pipeline;
    return same ? Result<bool>(true)
                : fail(Code::FailedPrecondition,
                       "collection '{}' is being re-encoded for model '{}' ({} of {} documents); "
                       "change its settings after that",
                       state.rows().name(), progress.target, progress.done, progress.total);
  }
  stored->settings = next;
  if (target == state.rows().schema().model && !derives_anew && !stored->is_switching) {
    if (auto set = state.rows().set_settings(internal::settings_to_json(*stored)); !set) {
      return pass_on(set);
    }
    return false;
  }
  if (auto begun = begin_switch(state, std::move(*stored), target); !begun) {
    return pass_on(begun);
  }
  return true;
}

Result<bool> LocalAnswerService::put_collection(const std::string& collection,
                                                const base::Json& settings, bool wait) {
  auto there = state(collection);
  if (!there && there.error().code != Code::NotFound) {
    return pass_on(there);
  }
  if (!there) {
    auto change = internal::merge_settings({}, settings);
    if (!change) {
      return pass_on(change);
    }
    if (auto pipeline = resolve_pipeline(change->merged.pipeline, {}, true); !pipeline) {
      return fail_field(pipeline.error().code, "pipeline", "{}", pipeline.error().message);
    }
    auto created = create_state(collection, change->merged, change->has_model);
    if (!created) {
      return pass_on(created);
    }
    return true;
  }
  auto begun = change_settings(**there, settings);
  if (!begun) {
    return pass_on(begun);
  }
  if (*begun && wait) {
    if (auto ended = (*there)->wait_background(); !ended) {
      return pass_on(ended);
    }
  }
  return false;
}

Result<void> LocalAnswerService::rollback(const std::string& collection, bool wait) {
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  {
    CollectionState& state = **there;
    const std::lock_guard lock(state.settings_mutex());
    auto stored = state.settings();
    if (!stored) {
      return pass_on(stored);
    }
    if (state.progress().running) {
      return fail(Code::FailedPrecondition,
                  "collection '{}' is being re-encoded; roll back after that", collection);
    }
    if (!stored->has_previous) {
      return fail(Code::FailedPrecondition, "collection '{}' has had no other model", collection);
    }
    const std::string target = stored->previous_model;
    if (!target.empty()) {
      if (auto encoder = encoders_.find(target); !encoder) {
        return pass_on(encoder, "the model before");
      }
    }
    if (auto begun = begin_switch(state, std::move(*stored), target); !begun) {
      return begun;
    }
  }
  return wait ? (*there)->wait_background() : Result<void>{};
}

Result<void> LocalAnswerService::drop(const std::string& collection) {
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  (*there)->stop_background();
  {
    const std::lock_guard lock(states_mutex_);
    states_.erase(collection);
  }
  return database_.drop(collection);
}

Result<void> LocalAnswerService::compact(const std::string& collection, std::stop_token stop) {
  auto there = state(collection);
  if (!there) {
    return pass_on(there);
  }
  return (*there)->rows().compact(stop, [](uint64_t, uint64_t) {});
}

void LocalAnswerService::resume_switches() {
  for (const std::string& name : database_.names()) {
    auto there = state(name);
    if (!there) {
      base::log_error("answer", "collection '{}': {}", name, there.error().message);
      continue;
    }
    const std::lock_guard lock((*there)->settings_mutex());
    auto stored = (*there)->settings();
    if (stored && stored->is_switching) {
      base::log_info("answer", "collection '{}': going on with the switch to model '{}'", name,
                     stored->pending_model);
      const std::string target = stored->pending_model;
      if (auto begun = begin_switch(**there, std::move(*stored), target); !begun) {
        base::log_error("answer", "collection '{}': {}", name, begun.error().message);
      }
    }
  }
}

}  // namespace

std::unique_ptr<AnswerService> AnswerService::create(store::Database& database,
                                                     EncoderSource& encoders) {
  auto service = std::make_unique<LocalAnswerService>(database, encoders);
  service->resume_switches();
  return service;
}

}  // namespace sibyl::answer
