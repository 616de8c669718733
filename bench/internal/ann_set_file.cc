#include "internal/ann_set_file.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "index/memory_view.h"

namespace sibyl::bench {

[[noreturn]] void stop_with(const std::string& message) {
  std::fprintf(stderr, "ann: %s\n", message.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

namespace {

template <class T>
void get(std::ifstream& file, std::vector<T>& out, const std::string& path) {
  file.read(reinterpret_cast<char*>(out.data()),
            static_cast<std::streamsize>(out.size() * sizeof(T)));
  if (!file) {
    stop_with(path + ": shorter than its header says");
  }
}

}  // namespace

Set read_set(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<int32_t> header(3);
  get(file, header, path);
  if (header[0] <= 0 || header[1] <= 0 || header[2] <= 0) {
    stop_with(path + ": not a set of vectors");
  }
  Set set;
  set.count = static_cast<size_t>(header[0]);
  set.dimension = static_cast<size_t>(header[1]);
  set.queries = static_cast<size_t>(header[2]);
  index::VectorFileBuilder builder(set.dimension);
  std::vector<float> vector(set.dimension);
  for (size_t i = 0; i < set.count; ++i) {
    get(file, vector, path);
    if (const auto added = builder.add_row(vector); !added) {
      stop_with(added.error().message);
    }
  }
  set.query_vectors.resize(set.queries * set.dimension);
  get(file, set.query_vectors, path);
  std::vector<int32_t> nearest(set.queries * kNearest);
  get(file, nearest, path);
  for (size_t i = 0; i < set.queries; ++i) {
    const auto from = nearest.begin() + static_cast<ptrdiff_t>(i * kNearest);
    set.nearest.emplace_back(from, from + kNearest);
  }
  auto opened = index::open_exact_index(index::memory_view(builder.finish()), "vectors");
  set.vectors = std::move(*opened);
  return set;
}

}  // namespace sibyl::bench
