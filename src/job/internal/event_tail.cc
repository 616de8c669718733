#include "job/internal/event_tail.h"

#include <algorithm>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"

namespace sibyl::job::internal {

Result<std::vector<std::string>> lines_from(const std::string& path, uint64_t& offset,
                                            uint64_t bytes_max) {
  std::vector<std::string> lines;
  const auto view = base::real_file_system().map(path);
  if (!view) {
    if (view.error().code == Code::NotFound) {
      return lines;
    }
    return tl::unexpected<Error>(view.error());
  }
  std::string_view bytes = (*view)->bytes();
  if (offset >= bytes.size()) {
    return lines;
  }
  bytes = bytes.substr(offset, bytes_max);
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    lines.emplace_back(bytes.substr(0, end));
    offset += end + 1;
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

std::string last_error(const Workspace& workspace, std::string_view step) {
  constexpr uint64_t kTailBytes = uint64_t{1} << 20;
  const std::string path = workspace.file("events.jsonl");
  const auto status = base::real_file_system().status(path);
  if (!status) {
    return {};
  }
  uint64_t offset = status->bytes > kTailBytes ? status->bytes - kTailBytes : 0;
  const auto lines = lines_from(path, offset, kTailBytes);
  if (!lines) {
    return {};
  }
  std::string error;
  for (const std::string& line : *lines) {
    const auto event = base::parse_json(line);
    if (!event || !event->is_object() || base::text_at(*event, "step") != step) {
      continue;
    }
    if (base::text_at(*event, "event") == "start") {
      error.clear();
    } else if (const auto found = event->find("error");
               found != event->end() && found->is_string()) {
      error = found->get<std::string>();
    }
  }
  return error;
}

}  // namespace sibyl::job::internal
