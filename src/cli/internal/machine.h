#pragma once

#include <cstdint>
#include <string>

namespace sibyl::cli {

/// What the machine has, read from the system.
struct Machine {
  std::string cpu;           ///< model name
  std::string cpu_features;  ///< those that kernels use: "avx2 fma avx512f avx512_vnni"
  size_t cores = 0;          ///< that this process may use
  uint64_t memory_bytes = 0;
  uint64_t memory_free_bytes = 0;
  std::string gpu;  ///< which GPU, or why none
  bool gpu_seen = false;
  uint64_t disk_free_bytes = 0;  ///< of the data directory's file system
};
Machine inspect_machine(const std::string& data_directory);

}  // namespace sibyl::cli
