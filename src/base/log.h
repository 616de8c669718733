#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sibyl::base {

enum class LogLevel { Debug, Info, Warning, Error };

/// Chooses the level and form, once at program start. Logs go to standard error, one line each:
/// JSON objects {"time","level","room","message"} or plain text. Thread-safe after that.
void configure_log(LogLevel level, bool json_lines);
bool log_enabled(LogLevel level);
/// `room` is the room's name. Never pass secrets or document texts.
void write_log(LogLevel level, std::string_view room, std::string_view message);

template <class... Args>
void log_debug(std::string_view room, fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(LogLevel::Debug)) {
    write_log(LogLevel::Debug, room, fmt::format(text, std::forward<Args>(args)...));
  }
}
template <class... Args>
void log_info(std::string_view room, fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(LogLevel::Info)) {
    write_log(LogLevel::Info, room, fmt::format(text, std::forward<Args>(args)...));
  }
}
template <class... Args>
void log_warning(std::string_view room, fmt::format_string<Args...> text, Args&&... args) {
  write_log(LogLevel::Warning, room, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(std::string_view room, fmt::format_string<Args...> text, Args&&... args) {
  write_log(LogLevel::Error, room, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace sibyl::base
