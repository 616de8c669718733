#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sibyl::store {

/// Microseconds since 1970-01-01 UTC of an ISO 8601 text: `2020-05-01`, or with a time
/// `2020-05-01T10:30[:15[.25]][Z|+02:00]` (also a blank for the T; no zone means UTC). Nothing for
/// anything else, impossible days among it.
std::optional<int64_t> parse_iso_date(std::string_view text);

}  // namespace sibyl::store
