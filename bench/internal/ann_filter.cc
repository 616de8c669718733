#include "internal/ann_filter.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <random>
#include <utility>

#include "simd/distance.h"

namespace sibyl::bench {
namespace {

/// Rows with the nearest to the set's first vector in front.
std::vector<float> nearness(const Set& set, std::span<const float> pole) {
  std::vector<float> scores(set.count);
  for (uint32_t row = 0; row < set.count; ++row) {
    scores[row] = simd::dot(pole.data(), set.vectors->vectors_of(row).data(), set.dimension);
  }
  return scores;
}

}  // namespace

std::vector<uint32_t> filter_rows(const Options& options, const Set& set) {
  std::vector<uint32_t> rows(set.count);
  std::iota(rows.begin(), rows.end(), 0U);
  std::mt19937 random(1);
  std::shuffle(rows.begin(), rows.end(), random);
  if (options.filter_kind != "random") {
    const std::vector<float> scores = nearness(set, set.vectors->vectors_of(0));
    const bool near = options.filter_kind == "near" || options.filter_kind == "correlated";
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return scores[a] == scores[b] ? a < b : near ? scores[a] > scores[b] : scores[a] < scores[b];
    });
  }
  rows.resize(static_cast<size_t>(options.filter_percent / 100 * static_cast<double>(set.count)));
  return rows;
}

void keep_near_queries(Set& set) {
  const auto pole = set.vectors->vectors_of(0);
  std::vector<std::pair<float, uint32_t>> order;
  for (uint32_t query = 0; query < set.queries; ++query) {
    order.emplace_back(-simd::dot(pole.data(), set.query(query).data(), set.dimension), query);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::max<size_t>(set.queries / 5, 1));
  std::vector<float> vectors;
  std::vector<std::set<uint32_t>> nearest;
  for (const auto& [distance, query] : order) {
    const auto vector = set.query(query);
    vectors.insert(vectors.end(), vector.begin(), vector.end());
    nearest.push_back(set.nearest[query]);
  }
  set.query_vectors = std::move(vectors);
  set.nearest = std::move(nearest);
  set.queries = order.size();
}

void find_nearest(Set& set, size_t k, const index::RowSet* allowed) {
  std::vector<index::VectorHit> hits;
  for (size_t q = 0; q < set.queries; ++q) {
    set.vectors->search(set.query(q), k, allowed, hits);
    set.nearest[q].clear();
    for (const index::VectorHit& hit : hits) {
      set.nearest[q].insert(hit.row);
    }
  }
}

namespace {

template <class T>
void put(std::ofstream& file, std::span<const T> values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

}  // namespace

void write_filter(const Options& options, const Set& set, const std::vector<uint32_t>& rows) {
  std::ofstream file(options.filter_file, std::ios::binary);
  const std::array<int32_t, 3> header = {static_cast<int32_t>(rows.size()),
                                         static_cast<int32_t>(set.queries),
                                         static_cast<int32_t>(options.k)};
  put<int32_t>(file, header);
  put<uint32_t>(file, rows);
  put<float>(file, set.query_vectors);
  for (const std::set<uint32_t>& nearest : set.nearest) {
    std::vector<int32_t> row(nearest.begin(), nearest.end());
    row.resize(options.k, -1);
    put<int32_t>(file, row);
  }
  if (!file) {
    stop_with(options.filter_file + ": cannot be written");
  }
}

}  // namespace sibyl::bench
