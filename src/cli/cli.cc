#include "cli/cli.h"

#include <csignal>
#include <cstdio>
#include <exception>

#include "base/log.h"
#include "base/stop.h"
#include "cli/internal/arguments.h"
#include "cli/internal/commands.h"
#include "cli/internal/failure.h"
#include "cli/internal/terminal.h"

namespace sibyl::cli {
namespace {

int run_command(const Arguments& arguments) {
  const Terminal terminal(arguments);
  const Command command = find_command(arguments.command);
  const auto done = command(arguments, terminal);
  std::fflush(stdout);
  if (!done) {
    return tell_failure(arguments, done.error());
  }
  return *done;
}

}  // namespace

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of that write, no death
  base::stop_on_signals();
  const ParsedArguments parsed = parse_arguments(argc, argv);
  if (!parsed.go_on) {
    return parsed.exit_status;
  }
  const bool serves = parsed.arguments.command == "serve" || parsed.arguments.command == "step";
  const base::LogLevel level = parsed.arguments.verbose ? base::LogLevel::Debug
                               : serves                 ? base::LogLevel::Info
                                                        : base::LogLevel::Warning;
  base::configure_log(level, serves && parsed.arguments.json);
  try {
    return run_command(parsed.arguments);
  } catch (const std::exception& error) {
    // Only running out of memory or a bug of ours gets here.
    std::fprintf(stderr, "sibyl: unexpected failure: %s\n", error.what());
    return exit_status(Code::Internal);
  }
}

}  // namespace sibyl::cli
