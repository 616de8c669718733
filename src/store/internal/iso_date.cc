#include "store/internal/iso_date.h"

#include <chrono>

namespace sibyl::store {
namespace {

/// Takes fixed-width parts off the front; `ok` turns false for good at the first that is missing.
struct Cursor {
  std::string_view text;
  bool ok = true;

  int64_t digits(size_t count) {
    int64_t value = 0;
    if (!ok || text.size() < count) {
      ok = false;
      return 0;
    }
    for (size_t i = 0; i < count; ++i) {
      if (text[i] < '0' || text[i] > '9') {
        ok = false;
        return 0;
      }
      value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
  }
  bool skip(char wanted) {
    if (ok && !text.empty() && text.front() == wanted) {
      text.remove_prefix(1);
      return true;
    }
    return false;
  }
  void need(char wanted) { ok = skip(wanted); }
};

/// `.25` as microseconds; digits past the sixth are read and dropped.
int64_t fraction_us(Cursor& cursor) {
  int64_t value = 0;
  int64_t unit = 100'000;
  const size_t before = cursor.text.size();
  while (!cursor.text.empty() && cursor.text.front() >= '0' && cursor.text.front() <= '9') {
    value += (cursor.text.front() - '0') * unit;
    unit /= 10;
    cursor.text.remove_prefix(1);
  }
  cursor.ok = cursor.ok && cursor.text.size() != before;
  return value;
}

/// Minutes east of UTC.
int64_t zone_minutes(Cursor& cursor) {
  if (cursor.text.empty() || cursor.skip('Z')) {
    return 0;
  }
  const int64_t sign = cursor.skip('-') ? -1 : 1;
  if (sign == 1) {
    cursor.need('+');
  }
  const int64_t hours = cursor.digits(2);
  cursor.skip(':');
  const int64_t minutes = cursor.digits(2);
  cursor.ok = cursor.ok && hours <= 23 && minutes <= 59;
  return sign * (hours * 60 + minutes);
}

}  // namespace

std::optional<int64_t> parse_iso_date(std::string_view text) {
  // The cheap test first: nearly all texts are no dates.
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') {
    return std::nullopt;
  }
  Cursor cursor{text};
  const auto year = static_cast<int>(cursor.digits(4));
  cursor.need('-');
  const auto month = static_cast<unsigned>(cursor.digits(2));
  cursor.need('-');
  const auto day = static_cast<unsigned>(cursor.digits(2));
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!cursor.ok || !date.ok()) {
    return std::nullopt;
  }
  int64_t seconds = int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86'400;
  int64_t micros = 0;
  if (!cursor.text.empty()) {
    cursor.ok = cursor.skip('T') || cursor.skip(' ');
    const int64_t hour = cursor.digits(2);
    cursor.need(':');
    const int64_t minute = cursor.digits(2);
    const int64_t second = cursor.skip(':') ? cursor.digits(2) : 0;
    micros = cursor.skip('.') ? fraction_us(cursor) : 0;
    cursor.ok = cursor.ok && hour <= 23 && minute <= 59 && second <= 60;
    seconds += hour * 3600 + minute * 60 + second - zone_minutes(cursor) * 60;
  }
  if (!cursor.ok || !cursor.text.empty()) {
    return std::nullopt;
  }
  return seconds * 1'000'000 + micros;
}

}  // namespace sibyl::store
