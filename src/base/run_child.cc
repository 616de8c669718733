#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/clock.h"
#include "base/internal/spawn.h"

namespace sibyl::base {
namespace {

using internal::FileDescriptor;
using internal::Spawned;
using internal::system_error;

constexpr size_t kErrorBytesKept = size_t{64} << 10;

// Collects both outputs of one child until it ends, or a limit is passed.
class Collector {
 public:
  Collector(const ChildOptions& options, Spawned child, FileDescriptor output,
            FileDescriptor errors, FileDescriptor stopped)
      : options_(options),
        child_(std::move(child)),
        output_(std::move(output)),
        errors_(std::move(errors)),
        stopped_(std::move(stopped)),
        wake_(options.stop, [this] { ::eventfd_write(stopped_.get(), 1); }) {
    for (const int file : {output_.get(), errors_.get()}) {
      ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
    }
  }

  Result<ChildOutcome> run() {
    const int64_t start_us = system_clock().steady_us();
    for (;;) {
      const int64_t passed_ms = (system_clock().steady_us() - start_us) / 1000;
      if (options_.timeout_ms > 0 && passed_ms >= options_.timeout_ms) {
        end();
        return fail(Code::DeadlineExceeded, "{} did not end within {} ms and was stopped",
                    options_.arguments[0], options_.timeout_ms);
      }
      if (options_.stop.stop_requested()) {
        end();
        return fail(Code::Interrupted, "{} was stopped", options_.arguments[0]);
      }
      std::array<pollfd, 4> waits{{{child_.end_signal.get(), POLLIN, 0},
                                   {output_.get(), POLLIN, 0},
                                   {errors_.get(), POLLIN, 0},
                                   {stopped_.get(), POLLIN, 0}}};
      const int64_t left_ms = options_.timeout_ms > 0 ? options_.timeout_ms - passed_ms : -1;
      if (::poll(waits.data(), waits.size(),
                 static_cast<int>(std::min<int64_t>(left_ms, 1 << 30))) < 0 &&
          errno != EINTR) {
        const int number = errno;
        end();
        return system_error("cannot wait for", options_.arguments[0], number);
      }
      drain();
      if (outcome_.output.size() > options_.output_bytes_max) {
        end();
        return fail(Code::TooLarge, "{} wrote more than {} bytes and was stopped",
                    options_.arguments[0], options_.output_bytes_max);
      }
      if (waits[0].revents != 0) {
        outcome_.exit_status = end();
        drain();  // what was written between the last look and the end
        outcome_.output.resize(
            std::min<uint64_t>(outcome_.output.size(), options_.output_bytes_max));
        return std::move(outcome_);
      }
    }
  }

 private:
  // Also ends what the child started and left behind.
  int end() {
    ::kill(-child_.process, SIGKILL);
    return internal::collect(child_);
  }

  void drain() {
    read_into(output_, outcome_.output, options_.output_bytes_max + 1);
    std::string more;
    read_into(errors_, more, 4 * kErrorBytesKept);
    outcome_.errors += more;
    if (outcome_.errors.size() > kErrorBytesKept) {
      outcome_.errors.erase(0, outcome_.errors.size() - kErrorBytesKept);
    }
  }

  // Reads what is there, to a total of `bytes_max`; an ended pipe is closed, so that poll sleeps.
  static void read_into(FileDescriptor& file, std::string& text, uint64_t bytes_max) {
    std::array<char, 64 << 10> buffer;
    while (file.get() >= 0 && text.size() < bytes_max) {
      const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
      if (got > 0) {
        text.append(buffer.data(), static_cast<size_t>(got));
      } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        file.reset();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  const ChildOptions& options_;
  const Spawned child_;
  FileDescriptor output_;
  FileDescriptor errors_;
  const FileDescriptor stopped_;  ///< readable once a stop was requested
  ChildOutcome outcome_;
  const std::stop_callback<std::function<void()>> wake_;
};

}  // namespace

Result<ChildOutcome> run_child(const ChildOptions& options) {
  auto output = internal::make_pipe();
  if (!output) {
    return pass_on(output);
  }
  auto errors = internal::make_pipe();
  if (!errors) {
    return pass_on(errors);
  }
  FileDescriptor stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (stopped.get() < 0) {
    return system_error("cannot watch", options.arguments[0], errno);
  }
  auto child = internal::spawn(options, output->second.get(), errors->second.get());
  if (!child) {
    return pass_on(child);
  }
  output->second.reset();
  errors->second.reset();
  return Collector(options, std::move(*child), std::move(output->first), std::move(errors->first),
                   std::move(stopped))
      .run();
}

}  // namespace sibyl::base
