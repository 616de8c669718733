#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include <sched.h>

#include "base/file_system.h"
#include "base/thread_pool.h"

namespace sibyl::base {
namespace {

// Files under /proc and /sys say 0 bytes, so they cannot be mapped; these are read by stream.
std::string small_system_file(const std::string& path) {
  std::string text;
  if (FILE* const file = std::fopen(path.c_str(), "re")) {
    char buffer[512];
    const size_t got = std::fread(buffer, 1, sizeof buffer, file);
    text.assign(buffer, got);
    std::fclose(file);
  }
  return text;
}

double number_at(std::string_view text) {
  double value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Cores that the control group's quota allows, 0 when there is none.
double quota_cores() {
  const std::string both = small_system_file("/sys/fs/cgroup/cpu.max");  // "200000 100000"
  if (const size_t space = both.find(' '); space != std::string::npos) {
    const double quota = number_at(both);
    const double period = number_at(std::string_view(both).substr(space + 1));
    return quota > 0 && period > 0 ? quota / period : 0;
  }
  const double quota = number_at(small_system_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  const double period = number_at(small_system_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  size_t cores = 1;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    cores = static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
  }
  const double quota = quota_cores();
  if (quota > 0) {
    cores = std::min(cores, static_cast<size_t>(std::max(1.0, std::ceil(quota))));
  }
  return cores;
}

}  // namespace sibyl::base
