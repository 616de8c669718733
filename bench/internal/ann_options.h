#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sibyl::bench {

inline constexpr size_t kNearest = 10;

/// What `ann` is told.
struct Options {
  std::string path;
  std::string index = "graph";
  std::string index_file;
  std::string metric = "inner-product";
  std::string filter_kind = "random";
  std::string filter_file;
  std::string regime = "chosen";
  double recall = 0;
  double filter_percent = 100;
  size_t threads = 1;
  size_t build_threads = 2;
  size_t passes = 4;
  double warm_up_seconds = 1;
  size_t k = kNearest;
  uint32_t degree = 32;
  bool compact = false;
  std::vector<size_t> efforts;
};

/// Ends the program: there is nothing to measure.
[[noreturn]] void stop_with(const std::string& message);

}  // namespace sibyl::bench
