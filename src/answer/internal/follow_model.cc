#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "answer/internal/away_model.h"
#include "answer/internal/local_answer_service.h"
#include "base/clock.h"
#include "base/log.h"

namespace sibyl::answer::internal {
namespace {

/// What failed is tried again after this, not at every look at the model.
constexpr int64_t kAgainAfterUs = 60'000'000;

std::optional<uint64_t> number_of(std::string_view version) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  const bool right = error == std::errc() && end == version.data() + version.size();
  return right ? std::optional(number) : std::nullopt;
}

/// Whether vectors of version `used` give way to those of the served one.
bool gives_way(const std::string& used, const ServedModel& served, EncoderSource& encoders) {
  if (used == served.before) {
    return true;  // moved together, forward or back
  }
  const auto old_number = number_of(used);
  const auto new_number = number_of(served.version);
  if (old_number && new_number && *old_number < *new_number) {
    return true;  // rolled out while this server was down
  }
  // A newer one that was published and will be rolled out next stays, if it can be asked meanwhile.
  const auto there = encoders.find(fmt::format("{}@{}", served.name, used));
  return !there && there.error().code != Code::Interrupted;
}

/// The model that a collection is to be brought to now; nothing when all is as it should be.
std::optional<std::string> target_of(const StoredSettings& stored, const store::Schema& schema,
                                     const ServedModel& served, EncoderSource& encoders) {
  const std::string reference = fmt::format("{}@{}", served.name, served.version);
  if (stored.awaited_model == served.name) {
    return reference;
  }
  const std::string prefix = served.name + "@";
  if (!schema.model.starts_with(prefix)) {
    return std::nullopt;
  }
  if (schema.model == reference) {
    return stored.rows_wait ? std::optional(reference) : std::nullopt;
  }
  return gives_way(schema.model.substr(prefix.size()), served, encoders) ? std::optional(reference)
                                                                         : std::nullopt;
}

}  // namespace

Result<void> LocalAnswerService::follow_with(CollectionState& state, const ServedModel& served) {
  const std::lock_guard lock(state.settings_mutex());
  const SwitchProgress progress = state.progress();
  const bool failed_lately = !progress.outcome &&
                             base::system_clock().steady_us() - progress.ended_us < kAgainAfterUs &&
                             progress.target == fmt::format("{}@{}", served.name, served.version);
  if (progress.running || failed_lately) {
    return {};
  }
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  const auto target = target_of(*stored, state.rows().schema(), served, encoders_);
  if (!target) {
    return {};
  }
  base::log_info("answer", "collection '{}': vectors of model '{}' are being made",
                 state.rows().name(), *target);
  stored->rows_wait = false;  // one that comes meanwhile is noted anew
  return begin_switch(state, std::move(*stored), *target);
}

void LocalAnswerService::follow(const ServedModel& served) {
  for (const std::string& name : database_.names()) {
    auto there = state(name);
    if (!there) {
      continue;  // dropped at this moment, or not to be read, which the start said
    }
    if (auto followed = follow_with(**there, served); !followed) {
      base::log_warning("answer", "collection '{}' does not follow model '{}' to version {}: {}",
                        name, served.name, served.version, followed.error().message);
    }
  }
}

}  // namespace sibyl::answer::internal
