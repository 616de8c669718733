#include "cli/internal/machine.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "base/file_system.h"
#include "base/thread_pool.h"

namespace sibyl::cli {
namespace {

// Files of /proc say that they are empty, so they are read as streams.
std::string system_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string value_of(const std::string& text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) {
    return {};
  }
  const size_t colon = text.find(':', at);
  const size_t end = text.find('\n', at);
  if (colon == std::string::npos || colon > end) {
    return {};
  }
  const size_t start = text.find_first_not_of(" \t", colon + 1);
  return start >= end ? std::string() : text.substr(start, end - start);
}

uint64_t kilobytes(const std::string& text, std::string_view key) {
  const std::string value = value_of(text, key);
  uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number * 1024;
}

std::string used_features(const std::string& flags) {
  constexpr std::array<std::string_view, 8> kUsed = {
      "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "asimd"};
  std::string out;
  std::istringstream words(flags);
  for (std::string word; words >> word;) {
    for (const std::string_view used : kUsed) {
      if (word == used) {
        out += (out.empty() ? "" : " ") + word;
      }
    }
  }
  return out;
}

std::string inspect_gpu(bool& seen) {
  auto& files = base::real_file_system();
  const bool device = files.exists("/dev/nvidiactl") || files.exists("/dev/nvidia0");
  const std::string driver = system_file("/proc/driver/nvidia/version");
  seen = false;
  if (!device && driver.empty()) {
    return "none: no NVIDIA device on this machine";
  }
  if (!device) {
    return "not usable: the NVIDIA driver is loaded but /dev/nvidia* is missing (a container "
           "without its GPU?)";
  }
  std::string names;
  if (const auto entries = files.list("/proc/driver/nvidia/gpus")) {
    for (const base::FileEntry& entry : *entries) {
      const std::string name =
          value_of(system_file("/proc/driver/nvidia/gpus/" + entry.name + "/information"), "Model");
      names += (names.empty() ? "" : ", ") + (name.empty() ? entry.name : name);
    }
  }
  seen = true;
  std::string version;
  std::istringstream words(driver);
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos && word[0] >= '0' && word[0] <= '9') {
      version = word;
      break;
    }
  }
  return fmt::format("{} (driver {})", names.empty() ? "an NVIDIA device" : names,
                     version.empty() ? "of unknown version" : version);
}

}  // namespace

Machine inspect_machine(const std::string& data_directory) {
  Machine machine;
  const std::string cpu = system_file("/proc/cpuinfo");
  machine.cpu = value_of(cpu, "model name");
  const std::string flags = value_of(cpu, "flags");
  machine.cpu_features = used_features(flags.empty() ? value_of(cpu, "Features") : flags);
  machine.cores = base::usable_cores();
  const std::string memory = system_file("/proc/meminfo");
  machine.memory_bytes = kilobytes(memory, "MemTotal");
  machine.memory_free_bytes = kilobytes(memory, "MemAvailable");
  machine.gpu = inspect_gpu(machine.gpu_seen);
  std::error_code problem;
  // The directory may not be there yet; what will hold it is.
  std::filesystem::path place(data_directory);
  while (!std::filesystem::exists(place, problem) && place.has_relative_path()) {
    place = place.parent_path();
  }
  const auto space = std::filesystem::space(place, problem);
  machine.disk_free_bytes = problem ? 0 : space.available;
  return machine;
}

}  // namespace sibyl::cli
