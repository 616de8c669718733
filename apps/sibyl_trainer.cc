#include <string_view>

#include <fmt/format.h>

#include "base/log.h"
#include "base/stop.h"
#include "train/trainer.h"

namespace {

constexpr std::string_view kUsage =
    "usage: sibyl-trainer --workspace DIR [--json-log]\n"
    "       sibyl-trainer --version | --help\n"
    "\n"
    "The training step of a job: reads DIR/job.json and DIR/data, writes DIR/model. It is started "
    "by\n"
    "`sibyl step train`; SIGTERM saves a checkpoint and ends it with status 75, and the same "
    "command\n"
    "goes on.\n";

constexpr int kExitUsage = 64;

int run(const std::string& workspace) {
  const auto done = sibyl::train::run_training(workspace, sibyl::base::stop_on_signals());
  if (done) {
    return 0;
  }
  const sibyl::Error& error = done.error();
  if (error.code == sibyl::Code::Interrupted) {
    sibyl::base::log_info("train", "{}", error.message);
  } else {
    sibyl::base::log_error("train", "{}", error.message);
  }
  return sibyl::exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  sibyl::train::open_device_libraries();
  std::string workspace;
  bool json_log = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      fmt::print("{}", kUsage);
      return 0;
    }
    if (argument == "--version") {
      fmt::print("sibyl-trainer {}\n", sibyl::train::version_text());
      return 0;
    }
    if (argument == "--json-log") {
      json_log = true;
    } else if (argument == "--workspace" && i + 1 < argc) {
      workspace = argv[++i];
    } else if (argument.starts_with("--workspace=")) {
      workspace = argument.substr(std::string_view("--workspace=").size());
    } else {
      fmt::print(stderr, "sibyl-trainer: unknown or incomplete argument '{}'\n{}", argument,
                 kUsage);
      return kExitUsage;
    }
  }
  if (workspace.empty()) {
    fmt::print(stderr, "sibyl-trainer: --workspace is missing\n{}", kUsage);
    return kExitUsage;
  }
  sibyl::base::configure_log(sibyl::base::LogLevel::Info, json_log);
  return run(workspace);
}
