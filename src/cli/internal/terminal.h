#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "cli/internal/arguments.h"

namespace sibyl::cli {

/// How a command speaks: results on standard output, everything else on standard error.
class Terminal {
 public:
  explicit Terminal(const Arguments& arguments);
  bool json() const { return json_; }
  bool quiet() const { return quiet_; }

  /// A result: text for people.
  void print(std::string_view text) const;
  /// A result: one JSON document on one line.
  void print_json(const base::Json& json) const;
  void print_json_text(std::string_view json) const;
  /// A remark on standard error, unless --quiet or --json.
  void note(std::string_view text) const;
  /// A warning on standard error, always.
  void warn(std::string_view text) const;

  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
  /// Columns aligned by display width (code points); the first row is the header.
  std::string table(const std::vector<std::vector<std::string>>& rows) const;

 private:
  std::string styled(std::string_view text, const char* code) const;

  const bool json_;
  const bool quiet_;
  const bool colours_;
};

/// A bar with rate and time left, drawn over itself on a terminal; a line every ten seconds where
/// there is none. Nothing with --quiet or --json.
class ProgressBar {
 public:
  ProgressBar(const Terminal& terminal, std::string label, std::string unit);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// `total` 0: not known. `rate` and `left_s` below 0: computed here.
  void update(uint64_t done, uint64_t total, double rate = -1, double left_s = -1,
              std::string_view extra = {});
  void relabel(std::string label, std::string unit);
  /// Ends the line that the bar stands on.
  void finish();

 private:
  const bool shown_;
  const bool on_terminal_;
  std::string label_;
  std::string unit_;
  int64_t start_us_;
  int64_t last_us_ = 0;
  bool drawn_ = false;
};

/// "1:05", "2:03:10".
std::string format_seconds(double seconds);

}  // namespace sibyl::cli
