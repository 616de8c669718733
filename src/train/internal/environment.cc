#include "train/internal/environment.h"

#include <climits>
#include <cstdlib>

#include <malloc.h>

#include "base/environment.h"

namespace sibyl::train {

void set_process_defaults() {
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
    ::setenv("ATEN_CPU_CAPABILITY", "avx512", /*overwrite=*/0);
  }
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);  // Same products every time.
  if (base::environment_variable("MALLOC_MMAP_THRESHOLD_").empty()) {
    ::mallopt(M_MMAP_THRESHOLD, INT_MAX);
  }
  if (base::environment_variable("MALLOC_TRIM_THRESHOLD_").empty()) {
    ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  }
}

}  // namespace sibyl::train
