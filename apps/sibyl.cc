#include "cli/cli.h"

int main(int argc, char** argv) {
  return sibyl::cli::run(argc, argv);
}
