#include "cli/internal/failure.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/json.h"

namespace sibyl::cli {

int tell_failure(const Arguments& arguments, const Error& error) {
  const int status = exit_status(error.code);
  if (arguments.json) {
    base::Json json = {{"error",
                        {{"code", std::string(code_name(error.code))},
                         {"message", error.message},
                         {"field", error.field},
                         {"exit_status", status}}}};
    fmt::print("{}\n", base::dump_json(json));
    std::fflush(stdout);
  }
  fmt::print(stderr, "sibyl: {}\n", error.message);
  return status;
}

}  // namespace sibyl::cli
