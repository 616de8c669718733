// Nearest-neighbour search of one set of vectors: recall and searches a second.
//
//   ann FILE [--index graph|flat|exact] [--recall 0.95] [--filter-percent 5] [--threads 1]
//       [--filter random|near|far|correlated|anti-correlated] [--regime chosen|scan|inside|among]
//
// FILE: int32 vectors, dimension, queries; float32 vectors; float32 queries; int32 numbers of the
// ten nearest of each query (`ann_set` writes such files). One JSON line for each effort, then one
// with the searches a second where `--recall` is reached, interpolated in their logarithm between
// the two neighbouring efforts. Rates are the best of `--passes` over all queries; qps_cpu counts
// the processor time of all threads, qps_wall the time that passed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "index/derived_index.h"
#include "index/internal/graph_index.h"
#include "index/memory_view.h"
#include "internal/ann_filter.h"
#include "simd/distance.h"

namespace {

using namespace sibyl;
using namespace sibyl::bench;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string build_file(const Options& options, const Set& set) {
  std::string bytes;
  const index::ByteSink sink = [&bytes](std::string_view part) -> Result<void> {
    bytes += part;
    return {};
  };
  const auto metric =
      options.metric == "squared-l2" ? index::Metric::kSquaredL2 : index::Metric::kInnerProduct;
  Result<void> written;
  if (options.index == "flat") {
    index::FlatSettings settings;
    settings.metric = metric;
    settings.threads = static_cast<unsigned>(options.build_threads);
    written = index::write_flat_index(*set.vectors, settings, sink);
  } else {
    index::GraphSettings settings;
    settings.graph.metric = metric;
    settings.graph.threads = static_cast<unsigned>(options.build_threads);
    settings.graph.degree = options.degree;
    settings.compact = options.compact;
    written = index::write_graph_index(*set.vectors, settings, sink);
  }
  if (!written) {
    stop_with(written.error().message);
  }
  return bytes;
}

struct Built {
  std::shared_ptr<const index::VectorIndex> index;
  double seconds = 0;      ///< 0: read from a file.
  double cpu_seconds = 0;  ///< Of all threads.
};

Built build(const Options& options, const Set& set) {
  if (options.index == "exact") {
    return {set.vectors, 0, 0};
  }
  Built built;
  std::string bytes;
  std::ifstream kept(options.index_file, std::ios::binary);
  if (!options.index_file.empty() && kept) {
    bytes.assign(std::istreambuf_iterator<char>(kept), {});
  } else {
    const double start = wall_seconds();
    const std::clock_t cpu_start = std::clock();
    bytes = build_file(options, set);
    built.seconds = wall_seconds() - start;
    built.cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    if (!options.index_file.empty()) {
      std::ofstream(options.index_file, std::ios::binary) << bytes;
    }
  }
  auto view = index::memory_view(std::move(bytes));
  auto opened = options.index == "flat"
                    ? index::open_flat_index(std::move(view), "index", set.vectors)
                    : index::open_graph_index(std::move(view), "index", set.vectors);
  if (!opened) {
    stop_with(opened.error().message);
  }
  built.index = std::move(*opened);
  return built;
}

struct Measured {
  double recall = 0;
  double qps_cpu = 0;
  double qps_wall = 0;
};

void search(const Options& options, const index::VectorIndex& index, std::span<const float> query,
            const index::RowSet* allowed, size_t effort, std::vector<index::VectorHit>& hits) {
  using index::FilterRegime;
  if (options.regime == "chosen" || allowed == nullptr) {
    index.search_with(query, options.k, allowed, {.effort = effort}, hits);
    return;
  }
  const FilterRegime regime = options.regime == "scan"     ? FilterRegime::Scan
                              : options.regime == "inside" ? FilterRegime::Inside
                                                           : FilterRegime::Among;
  dynamic_cast<const index::GraphIndex&>(index).search_in(regime, query, options.k, *allowed,
                                                          effort, hits);
}

/// One pass over all queries; every thread takes every threads-th query.
Measured pass(const Options& options, const Set& set, const index::VectorIndex& index,
              const index::RowSet* allowed, size_t effort) {
  std::vector<double> cpu(options.threads);
  std::vector<size_t> found(options.threads);
  const double start = wall_seconds();
  {
    std::vector<std::jthread> threads;
    threads.reserve(options.threads);
    for (size_t t = 0; t < options.threads; ++t) {
      threads.emplace_back([&, t] {
        std::vector<std::vector<index::VectorHit>> hits(set.queries);
        const double cpu_start = thread_seconds();
        for (size_t q = t; q < set.queries; q += options.threads) {
          search(options, index, set.query(q), allowed, effort, hits[q]);
        }
        cpu[t] = thread_seconds() - cpu_start;
        for (size_t q = t; q < set.queries; q += options.threads) {
          for (const index::VectorHit& hit : hits[q]) {
            found[t] += set.nearest[q].count(hit.row);
          }
        }
      });
    }
  }
  const double wall = wall_seconds() - start;
  size_t all = 0;
  for (const auto& nearest : set.nearest) {
    all += nearest.size();
  }
  const auto queries = static_cast<double>(set.queries);
  return {static_cast<double>(std::accumulate(found.begin(), found.end(), size_t{0})) /
              static_cast<double>(std::max<size_t>(all, 1)),
          queries / std::accumulate(cpu.begin(), cpu.end(), 0.0), queries / wall};
}

void print(const Options& options, const Set& set, const Built& built, const std::string& effort,
           const Measured& measured) {
  const auto count = static_cast<double>(set.count);
  fmt::print(
      "{{\"index\": \"{}\", \"parameters\": {{\"effort\": {}, \"k\": {}, \"compact\": {}, "
      "\"filter_percent\": {}, \"filter\": \"{}\", \"regime\": \"{}\", \"threads\": {}, "
      "\"kernel\": \"{}\"}}, "
      "\"recall\": {:.4f}, \"qps_cpu\": {:.0f}, \"qps_wall\": {:.0f}, "
      "\"bytes_per_vector_resident\": {:.1f}, \"bytes_per_vector_mapped\": {:.1f}, \"build_s\": "
      "{:.1f}, \"build_cpu_s\": {:.1f}}}\n",
      options.index, effort, options.k, options.compact, options.filter_percent,
      options.filter_kind, options.regime, options.threads, simd::kernel_name(), measured.recall,
      measured.qps_cpu, measured.qps_wall,
      static_cast<double>(built.index->resident_bytes()) / count,
      static_cast<double>(built.index->mapped_bytes()) / count, built.seconds, built.cpu_seconds);
  std::fflush(stdout);
}

/// A graph copies its nodes to huge pages at first: searches meanwhile are not what is measured.
void warm_up(const Options& options, const Set& set, const Built& built) {
  std::vector<index::VectorHit> hits;
  const double end = wall_seconds() + options.warm_up_seconds;
  for (size_t q = 0; wall_seconds() < end; q = (q + 1) % set.queries) {
    built.index->search(set.query(q), options.k, nullptr, hits);
  }
}

double between(double share, double low, double high) {
  return std::exp(std::log(low) * (1 - share) + std::log(high) * share);
}

void sweep(const Options& options, const Set& set, const Built& built,
           const index::RowSet* allowed) {
  Measured before;
  for (const size_t effort : options.efforts) {
    Measured best;
    for (size_t i = 0; i < options.passes; ++i) {
      const Measured measured = pass(options, set, *built.index, allowed, effort);
      best = {measured.recall, std::max(best.qps_cpu, measured.qps_cpu),
              std::max(best.qps_wall, measured.qps_wall)};
    }
    print(options, set, built, effort == 0 ? "\"default\"" : std::to_string(effort), best);
    if (options.recall > 0 && best.recall >= options.recall) {
      if (before.qps_cpu > 0 && before.recall < options.recall) {
        const double share = (options.recall - before.recall) / (best.recall - before.recall);
        best = {options.recall, between(share, before.qps_cpu, best.qps_cpu),
                between(share, before.qps_wall, best.qps_wall)};
      }
      print(options, set, built, "\"interpolated\"", best);
      return;
    }
    before = best;
  }
}

void read_options(CLI::App& app, Options& options) {
  app.add_option("file", options.path)->required()->check(CLI::ExistingFile);
  app.add_option("--index", options.index)->check(CLI::IsMember({"graph", "flat", "exact"}));
  app.add_option("--index-file", options.index_file, "Read from, or written when it is missing");
  app.add_option("--metric", options.metric)->check(CLI::IsMember({"inner-product", "squared-l2"}));
  app.add_option("--recall", options.recall, "Stop where it is reached")->check(CLI::Range(0., 1.));
  app.add_option("--effort", options.efforts, "Efforts to try; 0: the index's own")->delimiter(',');
  app.add_option("--filter-percent", options.filter_percent)->check(CLI::Range(0., 100.));
  app.add_option("--filter", options.filter_kind)
      ->check(CLI::IsMember({"random", "near", "far", "correlated", "anti-correlated"}));
  app.add_option("--write-filter", options.filter_file, "Rows, queries and answers, for others");
  app.add_option("--regime", options.regime, "How the graph searches under the filter")
      ->check(CLI::IsMember({"chosen", "scan", "inside", "among"}));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  app.add_option("--build-threads", options.build_threads)->check(CLI::Range(1, 256));
  app.add_option("--passes", options.passes)->check(CLI::Range(1, 100));
  app.add_option("--warm-up-seconds", options.warm_up_seconds)->check(CLI::Range(0., 60.));
  app.add_option("--k", options.k)->check(CLI::Range(1, 10));
  app.add_option("--degree", options.degree);
  app.add_flag("--compact", options.compact);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Recall and rate of nearest-neighbour searches.");
  read_options(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.efforts.empty()) {
    options.efforts = options.index == "graph" && options.recall > 0
                          ? std::vector<size_t>{16,  24,  32,  40,  48,  56,  64,  72,  80,  96,
                                                112, 128, 160, 192, 256, 320, 384, 512, 768, 1024}
                          : std::vector<size_t>{0};
  }
  if (options.regime != "chosen" && options.index != "graph") {
    stop_with("--regime is of the graph");
  }
  Set set = read_set(options.path);
  if (options.filter_kind.ends_with("correlated")) {
    keep_near_queries(set);
  }
  const std::vector<uint32_t> rows = filter_rows(options, set);
  index::RowSet filter(set.count);
  for (const uint32_t row : rows) {
    filter.insert(row);
  }
  const index::RowSet* allowed = options.filter_percent < 100 ? &filter : nullptr;
  if (allowed != nullptr || options.k != kNearest) {
    find_nearest(set, options.k, allowed);
  }
  if (!options.filter_file.empty()) {
    write_filter(options, set, rows);
  }
  const Built built = build(options, set);
  warm_up(options, set, built);
  sweep(options, set, built, allowed);
  return 0;
}
