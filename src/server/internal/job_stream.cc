#include "server/internal/job_stream.h"

#include <charconv>
#include <vector>

#include "base/clock.h"

namespace sibyl::server {
namespace {

/// How long the runner is waited for at once: a stop is seen that late.
constexpr int64_t kWaitMs = 500;
constexpr int64_t kHeartbeatUs = 15'000'000;

bool has_ended(job::JobState state) {
  return state != job::JobState::Queued && state != job::JobState::Running;
}

/// The events of one wait as a piece of the stream. Each has the offset behind it as its id, when
/// the offsets can be told from the lines' lengths; else the last one has.
std::string frame(const std::vector<std::string>& lines, uint64_t before, uint64_t behind) {
  uint64_t exact = before;
  for (const std::string& line : lines) {
    exact += line.size() + 1;
  }
  std::string out;
  uint64_t at = before;
  for (size_t i = 0; i < lines.size(); ++i) {
    at += lines[i].size() + 1;
    if (exact == behind) {
      out += fmt::format("id: {}\n", at);
    } else if (i + 1 == lines.size()) {
      out += fmt::format("id: {}\n", behind);
    }
    out += fmt::format("data: {}\n\n", lines[i]);
  }
  return out;
}

}  // namespace

void stream_job_events(const JobRunnerSource& runner, const std::string& id, uint64_t offset,
                       const StreamSink& sink, std::stop_token stop) {
  int64_t spoken_us = base::system_clock().steady_us();
  while (!stop.stop_requested()) {
    const auto jobs = runner();
    if (!jobs) {
      return;
    }
    // Asked before the events: what a job wrote before it ended is then read for certain.
    const auto info = (*jobs)->find(id);
    const bool ended = !info || has_ended(info->state);
    const uint64_t before = offset;
    const auto lines = (*jobs)->events(id, offset, ended ? 0 : kWaitMs);
    if (!lines) {
      return;
    }
    if (!lines->empty()) {
      spoken_us = base::system_clock().steady_us();
      if (!sink(frame(*lines, before, offset))) {
        return;
      }
      continue;
    }
    if (ended) {
      sink(fmt::format("event: end\ndata: {}\n\n", info ? job_to_json(*info) : "{}"));
      return;
    }
    if (base::system_clock().steady_us() - spoken_us > kHeartbeatUs) {
      spoken_us = base::system_clock().steady_us();
      if (!sink(": still here\n\n")) {
        return;
      }
    }
  }
}

uint64_t event_offset_of(std::string_view last_event_id) {
  uint64_t offset = 0;
  const auto [end, error] =
      std::from_chars(last_event_id.data(), last_event_id.data() + last_event_id.size(), offset);
  return error == std::errc() && end == last_event_id.data() + last_event_id.size() ? offset : 0;
}

}  // namespace sibyl::server
