#include "base/stop.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace sibyl::base {
namespace {

// Everything the handler touches is lock-free; the pipe wakes a thread that may do the rest.
int pipe_write_end = -1;
std::atomic<bool> signal_seen[NSIG];

std::stop_source& stop_source() {
  static std::stop_source* const source = new std::stop_source;  // outlives the waiting thread
  return *source;
}

void on_signal(int number) {
  const int kept = errno;
  if (signal_seen[number].exchange(true)) {
    ::_exit(128 + number);
  }
  const char byte = 1;
  static_cast<void>(!::write(pipe_write_end, &byte, 1));
  errno = kept;
}

void install() {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC) == 0, "a pipe for signals can be made");
  pipe_write_end = ends[1];
  // Lives as long as the process and is never joined: it waits for a signal that may not come.
  static std::thread* const waiter = new std::thread([read_end = ends[0]] {
    char byte = 0;
    ssize_t got = 0;
    do {
      got = ::read(read_end, &byte, 1);
    } while (got < 0 && errno == EINTR);
    stop_source().request_stop();
  });
  static_cast<void>(waiter);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGTERM, SIGINT}) {
    ::sigaction(number, &action, nullptr);
  }
}

std::atomic<bool> installed{false};

}  // namespace

std::stop_token stop_on_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    stop_source();
    install();
    installed.store(true);
  });
  return stop_source().get_token();
}

std::stop_token process_stop_token() {
  return installed.load() ? stop_source().get_token() : std::stop_token();
}

bool sleep_until_stop(const std::stop_token& stop, double seconds) {
  // Bounded, because a wait_for of infinite length overflows its clock.
  const std::chrono::duration<double> length(std::clamp(seconds, 0.0, 1e6));
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, length, [] { return false; });
  return stop.stop_requested();
}

}  // namespace sibyl::base
