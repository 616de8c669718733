#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "job/job_file.h"

// A job file that is accepted is accepted again in its JSON form.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto job =
      sibyl::job::parse_job_file({reinterpret_cast<const char*>(data), size}, "/folder");
  if (job && !sibyl::job::job_from_json(sibyl::job::job_to_json(*job), "/folder")) {
    std::abort();
  }
  return 0;
}
