#pragma once

namespace sibyl::cli {

/// The whole program behind `sibyl`: parses arguments, runs one command, returns the exit status.
int run(int argc, char** argv);

}  // namespace sibyl::cli
