#include "cli/internal/terminal.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/json.h"
#include "text/utf8.h"

namespace sibyl::cli {
namespace {

constexpr int64_t kTerminalBetweenUs = 100'000;
constexpr int64_t kPlainBetweenUs = 10'000'000;
constexpr size_t kBarCells = 24;

bool no_colour() {
  return !base::environment_variable("NO_COLOR").empty() ||
         base::environment_variable("TERM") == "dumb";
}

}  // namespace

Terminal::Terminal(const Arguments& arguments)
    : json_(arguments.json),
      quiet_(arguments.quiet),
      colours_(::isatty(STDOUT_FILENO) == 1 && !no_colour() && !arguments.json) {}

void Terminal::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.ends_with('\n')) {
    std::fputc('\n', stdout);
  }
}

void Terminal::print_json(const base::Json& json) const {
  print(base::dump_json(json));
}
void Terminal::print_json_text(std::string_view json) const {
  print(json);
}

void Terminal::note(std::string_view text) const {
  if (!quiet_ && !json_) {
    fmt::print(stderr, "{}\n", text);
  }
}

void Terminal::warn(std::string_view text) const {
  fmt::print(stderr, "sibyl: {}\n", text);
}

std::string Terminal::styled(std::string_view text, const char* code) const {
  return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}
std::string Terminal::bold(std::string_view text) const {
  return styled(text, "1");
}
std::string Terminal::dim(std::string_view text) const {
  return styled(text, "2");
}

std::string Terminal::table(const std::vector<std::vector<std::string>>& rows) const {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], text::code_points(row[i]));
    }
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      line += rows[r][i];
      if (i + 1 < rows[r].size()) {
        line.append(widths[i] - text::code_points(rows[r][i]) + 2, ' ');
      }
    }
    out += (r == 0 ? bold(line) : line) + "\n";
  }
  return out;
}

ProgressBar::ProgressBar(const Terminal& terminal, std::string label, std::string unit)
    : shown_(!terminal.quiet() && !terminal.json()),
      on_terminal_(::isatty(STDERR_FILENO) == 1),
      label_(std::move(label)),
      unit_(std::move(unit)),
      start_us_(base::system_clock().steady_us()) {}

ProgressBar::~ProgressBar() {
  finish();
}

void ProgressBar::relabel(std::string label, std::string unit) {
  finish();
  label_ = std::move(label);
  unit_ = std::move(unit);
  start_us_ = base::system_clock().steady_us();
  last_us_ = 0;
}

void ProgressBar::update(uint64_t done, uint64_t total, double rate, double left_s,
                         std::string_view extra) {
  const int64_t now_us = base::system_clock().steady_us();
  const bool last = total > 0 && done >= total;
  const int64_t between_us = on_terminal_ ? kTerminalBetweenUs : kPlainBetweenUs;
  // Without a terminal the first line also waits: short work needs none.
  const int64_t since_us = last_us_ == 0 && !on_terminal_ ? start_us_ : last_us_;
  if (!shown_ || (now_us - since_us < between_us && !(last && on_terminal_))) {
    return;
  }
  last_us_ = now_us;
  const double seconds = static_cast<double>(now_us - start_us_) / 1e6;
  if (rate < 0) {
    rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  }
  if (left_s < 0) {
    left_s = rate > 0 && total > done ? static_cast<double>(total - done) / rate : 0;
  }
  std::string line = label_ + " ";
  if (total > 0) {
    const auto cells =
        static_cast<size_t>(static_cast<double>(kBarCells) *
                            std::min(1.0, static_cast<double>(done) / static_cast<double>(total)));
    if (on_terminal_) {
      line += "[" + std::string(cells, '#') + std::string(kBarCells - cells, '-') + "] ";
    }
    line += fmt::format("{}/{}", done, total);
  } else {
    line += fmt::format("{}", done);
  }
  line += fmt::format("  {:.{}f} {}/s", rate, rate < 10 ? 1 : 0, unit_);
  if (total > 0) {
    line += "  left " + format_seconds(left_s);
  }
  if (!extra.empty()) {
    line += fmt::format("  {}", extra);
  }
  fmt::print(stderr, "{}{}{}", on_terminal_ ? "\r\x1b[K" : "", line, on_terminal_ ? "" : "\n");
  std::fflush(stderr);
  drawn_ = on_terminal_;
}

void ProgressBar::finish() {
  if (drawn_) {
    fmt::print(stderr, "\n");
    drawn_ = false;
  }
}

std::string format_seconds(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e8) + 0.5);
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace sibyl::cli
