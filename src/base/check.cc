#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sibyl::base {

void check_failed(std::string_view expression, std::string_view detail,
                  const std::source_location& where) {
  std::fprintf(stderr, "%s:%u: %s: broken invariant: %.*s%s%.*s\n", where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name(),
               static_cast<int>(expression.size()), expression.data(), detail.empty() ? "" : ": ",
               static_cast<int>(detail.size()), detail.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace sibyl::base
