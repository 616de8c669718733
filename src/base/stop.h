#pragma once

#include <stop_token>

namespace sibyl::base {

/// A token that SIGTERM and SIGINT stop. Installed once by `main`, before threads start; a second
/// signal of the same kind ends the process at once.
std::stop_token stop_on_signals();
/// The token of `stop_on_signals`, or one that never stops.
std::stop_token process_stop_token();
/// Seconds of sleep that end early when `stop` is requested; true when it was.
bool sleep_until_stop(const std::stop_token& stop, double seconds);

}  // namespace sibyl::base
