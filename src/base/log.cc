#include "base/log.h"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/json_writer.h"

namespace sibyl::base {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      break;
  }
  return spdlog::level::err;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warning:
      return "warning";
    case LogLevel::Error:
      break;
  }
  return "error";
}

struct Output {
  bool json_lines = false;
  std::shared_ptr<spdlog::logger> logger;

  Output() {
    logger = std::make_shared<spdlog::logger>("sibyl",
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::info);
    logger->flush_on(spdlog::level::debug);
  }
};

// Never destroyed: threads may still log while the program's statics go.
Output& output() {
  static Output* const instance = new Output;
  return *instance;
}

}  // namespace

void configure_log(LogLevel level, bool json_lines) {
  output().json_lines = json_lines;
  output().logger->set_level(to_spdlog(level));
}

bool log_enabled(LogLevel level) {
  return output().logger->should_log(to_spdlog(level));
}

void write_log(LogLevel level, std::string_view room, std::string_view message) {
  if (!log_enabled(level)) {
    return;
  }
  std::string line;
  if (output().json_lines) {
    JsonWriter json(line);
    json.begin_object().key("time").text(format_time(system_clock().now_us()));
    json.key("level").text(level_name(level)).key("room").text(room);
    json.key("message").text(message).end_object();
  } else {
    line = fmt::format("{} {} {}: ", format_time(system_clock().now_us()), level_name(level), room);
    for (const char c : message) {  // one line each, whatever a message holds
      line.push_back(c == '\n' || c == '\r' ? ' ' : c);
    }
  }
  output().logger->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace sibyl::base
