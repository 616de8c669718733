#include "server/internal/remote_models.h"

#include <algorithm>
#include <latch>
#include <utility>

#include "base/log.h"
#include "base/stop.h"

namespace sibyl::server {
namespace {

constexpr size_t kEncodersMax = 16;

double seconds(int64_t milliseconds) {
  return static_cast<double>(milliseconds) / 1000;
}

bool is_same(const encoder::RemoteLook& a, const encoder::RemoteLook& b) {
  return a.info.version == b.info.version && a.info.dimension == b.info.dimension;
}

}  // namespace

Result<std::unique_ptr<RemoteModels>> RemoteModels::open(const std::vector<std::string>& encoders,
                                                         const encoder::RemoteOptions& options,
                                                         const RemoteWatch& watch) {
  if (encoders.empty() || encoders.size() > kEncodersMax) {
    return fail_field(Code::InvalidArgument, "encoder",
                      "--encoder: {} are given; 1 to {} are right", encoders.size(), kEncodersMax);
  }
  std::unique_ptr<RemoteModels> models(new RemoteModels(options, watch));
  for (const std::string& text : encoders) {
    auto address = encoder::parse_remote_address(text);
    if (!address) {
      return pass_on(address);
    }
    if (models->has(address->name)) {
      return fail_field(Code::InvalidArgument, "encoder", "--encoder: '{}' is given twice",
                        address->name);
    }
    auto model = encoder::RemoteModel::create(std::move(*address), options);
    if (!model) {
      return pass_on(model);
    }
    auto entry = std::make_unique<Entry>();
    entry->model = std::move(*model);
    entry->trouble = {Code::Unavailable,
                      fmt::format("model '{}' was not asked yet", entry->model->address().name),
                      {}};
    models->entries_.push_back(std::move(entry));
  }
  return models;
}

RemoteModels::Entry* RemoteModels::entry_of(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry->model->address().name == name) {
      return entry.get();
    }
  }
  return nullptr;
}

std::vector<RemoteModels::Listed> RemoteModels::list() const {
  std::vector<Listed> all;
  for (const auto& entry : entries_) {
    const std::lock_guard lock(entry->mutex);
    Listed one{entry->model->address().name, entry->model->address().text(), std::nullopt, false};
    if (entry->served) {
      one.info = entry->served->info;
      one.answers = !entry->is_away;
    }
    all.push_back(std::move(one));
  }
  return all;
}

Result<RemoteModels::Served> RemoteModels::find(std::string_view name, std::string_view version) {
  Entry& entry = *entry_of(name);
  auto found = served_of(entry);
  if (!found) {
    // Whoever comes while somebody looks is answered without it.
    const std::unique_lock looking(entry.looking, std::try_to_lock);
    const bool due = [&] {
      const std::lock_guard lock(entry.mutex);
      return !entry.served && clock_.steady_us() >= entry.next_find_us;
    }();
    if (looking.owns_lock() && due) {
      look(entry);
    }
    found = served_of(entry);
  }
  if (!found) {
    const std::lock_guard lock(entry.mutex);
    return fail(Code::Unavailable, "{}; it is not there yet", entry.trouble.message);
  }
  if (!version.empty() && version != found->info.version) {
    return fail(Code::FailedPrecondition,
                "model '{}' is served in version {}, and version {} is wanted", name,
                found->info.version, version);
  }
  return Served{entry.model, std::move(found->info), std::move(found->sample)};
}

void RemoteModels::note_away(Entry& entry, const Error& error) const {
  const std::lock_guard lock(entry.mutex);
  entry.trouble = error;
  entry.next_find_us = clock_.steady_us() + watch_.find_again_ms * 1000;
  if (!entry.is_away) {
    base::log_warning("server", "{}; it is asked again and again", error.message);
  }
  entry.is_away = true;
}

void RemoteModels::note_served(Entry& entry, const encoder::RemoteLook& look,
                               bool is_believed) const {
  const encoder::EncoderInfo& info = look.info;
  const std::lock_guard lock(entry.mutex);
  if (!entry.served || !is_same(*entry.served, look)) {
    base::log_info("server", "model {} at {} answers as version {} ({} numbers a vector)",
                   info.model, entry.model->address().text(), info.version, info.dimension);
    entry.before = entry.served && entry.is_believed ? entry.served->info.version : std::string();
    entry.served = look;
  } else if (entry.is_away) {
    base::log_info("server", "model {} answers again", info.model);
  }
  entry.is_believed = is_believed;
  entry.is_away = false;
  entry.is_mixed = false;
}

std::optional<encoder::RemoteLook> RemoteModels::served_of(const Entry& entry) const {
  const std::lock_guard lock(entry.mutex);
  return entry.served;
}

void RemoteModels::settle(Entry& entry) {
  std::vector<std::pair<encoder::RemoteLook, int>> seen;
  for (int look = 0; look < watch_.confirmations; ++look) {
    if (look > 0 &&
        base::sleep_until_stop(stopping_.get_token(), seconds(watch_.confirmation_pause_ms))) {
      return;
    }
    auto one = entry.model->probe(stopping_.get_token());
    if (!one) {
      return;  // the next look says why
    }
    const auto known = std::ranges::find_if(
        seen, [&one](const auto& other) { return is_same(other.first, *one); });
    if (known != seen.end()) {
      ++known->second;
    } else {
      seen.emplace_back(std::move(*one), 1);
    }
  }
  const auto most = std::ranges::max_element(
      seen, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != seen.end()) {
    note_served(entry, most->first, 4 * most->second >= 3 * watch_.confirmations);
  }
}

bool RemoteModels::confirm(Entry& entry, const encoder::RemoteLook& first) {
  for (int look = 1; look < watch_.confirmations; ++look) {
    if (base::sleep_until_stop(stopping_.get_token(), seconds(watch_.confirmation_pause_ms))) {
      return false;
    }
    const auto again = entry.model->probe(stopping_.get_token());
    if (!again || !is_same(*again, first)) {
      return false;
    }
  }
  return true;
}

bool RemoteModels::look(Entry& entry) {
  const auto seen = entry.model->probe(stopping_.get_token());
  if (!seen) {
    if (seen.error().code != Code::Interrupted) {
      note_away(entry, seen.error());
    }
    return false;
  }
  const auto served = served_of(entry);
  const bool is_believed = [&entry] {
    const std::lock_guard lock(entry.mutex);
    return entry.is_believed;
  }();
  if (served && !is_believed) {
    note_served(entry, *served, false);  // it answers; `settle` says as what
    return true;
  }
  if (served && !is_same(*served, *seen) && !confirm(entry, *seen)) {
    const std::lock_guard lock(entry.mutex);
    if (!entry.is_mixed) {
      base::log_info("server", "model {}: versions {} and {} answer in turns; {} stays",
                     seen->info.model, served->info.version, seen->info.version,
                     served->info.version);
    }
    entry.is_mixed = true;
    return true;
  }
  note_served(entry, *seen, is_believed);
  return true;
}

void RemoteModels::watch_entry(Entry& entry, const std::stop_token& stop,
                               const std::function<void(const answer::ServedModel&)>& tell,
                               std::latch& looked) {
  bool answers = false;
  bool is_first = true;
  do {
    {
      const std::lock_guard looking(entry.looking);
      answers = look(entry);
    }
    if (is_first) {
      looked.count_down();
    }
    is_first = false;
    const auto is_believed = [&entry] {
      const std::lock_guard lock(entry.mutex);
      return entry.is_believed;
    };
    if (answers && !is_believed()) {
      settle(entry);
    }
    if (answers && is_believed() && !stop.stop_requested()) {
      const answer::ServedModel served = [&entry] {
        const std::lock_guard lock(entry.mutex);
        return answer::ServedModel{entry.served->info.model, entry.served->info.version,
                                   entry.before};
      }();
      tell(served);
    }
  } while (
      !base::sleep_until_stop(stop, seconds(answers ? watch_.look_ms : watch_.look_absent_ms)));
}

void RemoteModels::start(std::function<void(const answer::ServedModel&)> tell) {
  const auto shared =
      std::make_shared<const std::function<void(const answer::ServedModel&)>>(std::move(tell));
  const auto looked = std::make_shared<std::latch>(static_cast<ptrdiff_t>(entries_.size()));
  for (const auto& entry : entries_) {
    threads_.emplace_back([this, &entry = *entry, shared, looked] {
      watch_entry(entry, stopping_.get_token(), *shared, *looked);
    });
  }
  looked->wait();
}

void RemoteModels::stop() {
  stopping_.request_stop();
  threads_.clear();  // joins
}

}  // namespace sibyl::server
