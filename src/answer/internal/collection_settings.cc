#include <fmt/format.h>

#include "answer/internal/away_model.h"
#include "answer/internal/local_answer_service.h"
#include "answer/internal/model_switch.h"
#include "answer/internal/row_builder.h"
#include "base/log.h"

namespace sibyl::answer::internal {

Result<StatePointer> LocalAnswerService::create_state(const std::string& collection,
                                                      CollectionSettings settings,
                                                      bool model_given) {
  StoredSettings stored;
  std::shared_ptr<encoder::Encoder> encoder;
  if (!model_given || !settings.model.empty()) {
    auto found = encoders_.find(settings.model);
    const std::string served = encoders_.served_name(settings.model);
    if (found) {
      encoder = *found;
      settings.model = encoder->info().reference();
    } else if (!served.empty() && is_away(found.error())) {
      // Documents are taken and answered by BM25; `follow` brings the vectors.
      base::log_info("answer", "collection '{}' waits for its model: {}", collection,
                     found.error().message);
      stored.awaited_model = served;
      settings.model.clear();
    } else if (model_given || found.error().code != Code::FailedPrecondition) {
      return pass_on(found);
    }
  }
  stored.settings = settings;
  auto created =
      database_.create(collection, make_schema(settings, encoder.get()), settings_to_json(stored));
  if (!created && created.error().code != Code::AlreadyExists) {
    return pass_on(created);
  }
  return state(collection);
}

Result<void> LocalAnswerService::note_origins(CollectionState& state,
                                              std::set<std::string> origins) {
  for (const std::string& origin : origins) {
    if (origin.size() > kOriginBytesMax) {
      return fail_field(Code::InvalidArgument, "origins",
                        "origins: one of {} bytes; at most {} are kept", origin.size(),
                        kOriginBytesMax);
    }
  }
  const std::lock_guard lock(state.settings_mutex());
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  if (stored->origins.names.empty() && state.rows().statistics().live_rows > 0) {
    origins.insert("");  // rows of a program that did not note where they came from
  }
  add_origins(state.recent_origins(), origins);
  return add_origins(stored->origins, origins)
             ? state.rows().set_settings(settings_to_json(*stored))
             : Result<void>();
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
  info.origins = stored->origins;
  info.awaited_model = stored->awaited_model;
  info.rows_wait = stored->rows_wait;
  if (info.origins.names.empty() && info.statistics.live_rows > 0) {
    info.origins.names.insert("");
  }
  const SwitchProgress progress = (*there)->progress();
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

Result<void> LocalAnswerService::begin_switch(CollectionState& state, StoredSettings stored,
                                              const std::string& target) {
  stored.is_switching = true;
  stored.pending_model = target;
  if (auto set = state.rows().set_settings(settings_to_json(stored)); !set) {
    return set;
  }
  return state.start_background(target, [this, &state](const std::stop_token& stop) {
    return run_pending_switch(state, encoders_, stop);
  });
}

Result<bool> LocalAnswerService::change_settings(CollectionState& state, const base::Json& given) {
  const std::lock_guard lock(state.settings_mutex());
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  auto change = merge_settings(stored->settings, given);
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
  const bool derives_anew = derivation_of(next) != derivation_of(stored->settings);
  const SwitchProgress progress = state.progress();
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
  if (change->has_model) {
    stored->awaited_model.clear();
  }
  const bool makes_waiting = change->has_model && stored->rows_wait;
  if (target == state.rows().schema().model && !derives_anew && !stored->is_switching &&
      !makes_waiting) {
    if (auto set = state.rows().set_settings(settings_to_json(*stored)); !set) {
      return pass_on(set);
    }
    return false;
  }
  stored->rows_wait = false;  // noted again when the rows do not get their vectors
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
    auto change = merge_settings({}, settings);
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

}  // namespace sibyl::answer::internal
