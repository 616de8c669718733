#pragma once

// For tests of the graph index: sets of vectors, files, and what comparing everything finds.

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "index/derived_index.h"
#include "index/internal/graph_file.h"
#include "index/memory_view.h"
#include "simd/distance.h"

namespace sibyl::index::graph_test {

struct Set {
  size_t dimension = 0;
  std::vector<uint32_t> parts;  ///< Vectors of each row.
  std::vector<float> vectors;
};

/// Vectors around centres that are the same for every seed; of length 1 if wanted.
inline Set make_set(size_t count, size_t dimension, bool unit, uint32_t seed) {
  std::mt19937 centre_random(99);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> centres(20 * dimension);
  for (float& value : centres) {
    value = normal(centre_random);
  }
  normal.reset();
  Set made{dimension, std::vector<uint32_t>(count, 1), std::vector<float>(count * dimension)};
  for (size_t i = 0; i < count; ++i) {
    const float* centre = centres.data() + random() % 20 * dimension;
    for (size_t c = 0; c < dimension; ++c) {
      made.vectors[i * dimension + c] = centre[c] + 0.8F * normal(random);
    }
    if (unit) {
      simd::normalize(made.vectors.data() + i * dimension, dimension);
    }
  }
  return made;
}

inline std::shared_ptr<const VectorIndex> exact_of(const Set& set) {
  VectorFileBuilder builder(set.dimension);
  size_t at = 0;
  for (const uint32_t parts : set.parts) {
    EXPECT_TRUE(builder.add_row(std::span(set.vectors).subspan(at, parts * set.dimension)));
    at += parts * set.dimension;
  }
  auto opened = open_exact_index(memory_view(builder.finish()), "vectors");
  EXPECT_TRUE(opened);
  return std::move(*opened);
}

inline ByteSink sink_into(std::string& bytes) {
  return [&bytes](std::string_view part) {
    bytes += part;
    return Result<void>();
  };
}

inline std::string file_of(const VectorIndex& vectors, const GraphSettings& settings) {
  std::string bytes;
  const auto written = write_graph_index(vectors, settings, sink_into(bytes));
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return bytes;
}

inline std::unique_ptr<VectorIndex> graph_of(const std::shared_ptr<const VectorIndex>& vectors,
                                             const GraphSettings& settings) {
  auto opened = open_graph_index(memory_view(file_of(*vectors, settings)), "graph", vectors);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(*opened);
}

inline float score_of(Metric metric, std::span<const float> query, std::span<const float> vector) {
  return metric == Metric::kInnerProduct
             ? simd::dot(query.data(), vector.data(), query.size())
             : -simd::squared_l2(query.data(), vector.data(), query.size());
}

/// The best rows by comparing everything.
inline std::vector<VectorHit> truth_of(const VectorIndex& vectors, Metric metric,
                                       std::span<const float> query, size_t k,
                                       const RowSet* allowed) {
  std::vector<VectorHit> hits;
  for (uint32_t row = 0; row < vectors.rows(); ++row) {
    const auto parts = vectors.vectors_of(row);
    VectorHit hit{row, 0, kNoVector};
    for (uint32_t part = 0; part < parts.size() / query.size(); ++part) {
      const float score = score_of(metric, query, parts.subspan(part * query.size(), query.size()));
      if (score > hit.score) {
        hit.part = part;
        hit.score = score;
      }
    }
    if (hit.score > kNoVector && (allowed == nullptr || allowed->contains(row))) {
      hits.push_back(hit);
    }
  }
  std::sort(hits.begin(), hits.end(), [](const VectorHit& a, const VectorHit& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  });
  hits.resize(std::min(k, hits.size()));
  return hits;
}

/// Checks what always holds and gives the share of the true rows.
inline double recall_of(const VectorIndex& index, const VectorIndex& vectors, Metric metric,
                        size_t k, const RowSet* allowed, uint32_t seed, size_t queries = 40) {
  const Set made = make_set(queries, vectors.dimension(), false, seed);
  size_t found = 0;
  size_t all = 0;
  std::vector<VectorHit> hits;
  for (size_t q = 0; q < queries; ++q) {
    const auto query = std::span(made.vectors).subspan(q * made.dimension, made.dimension);
    index.search(query, k, allowed, hits);
    const std::vector<VectorHit> truth = truth_of(vectors, metric, query, k, allowed);
    EXPECT_EQ(hits.size(), truth.size());
    std::set<uint32_t> rows;
    for (size_t i = 0; i < hits.size(); ++i) {
      EXPECT_TRUE(rows.insert(hits[i].row).second) << "a row twice";
      EXPECT_TRUE(allowed == nullptr || allowed->contains(hits[i].row));
      const auto parts = vectors.vectors_of(hits[i].row);
      EXPECT_EQ(hits[i].score,
                score_of(metric, query, parts.subspan(hits[i].part * query.size(), query.size())));
      EXPECT_TRUE(i == 0 || hits[i - 1].score >= hits[i].score);
    }
    for (const VectorHit& hit : truth) {
      found += rows.count(hit.row);
    }
    all += truth.size();
  }
  return all == 0 ? 1.0 : static_cast<double>(found) / static_cast<double>(all);
}

inline GraphSettings settings_of(Metric metric, bool compact = false) {
  GraphSettings settings;
  settings.graph.metric = metric;
  settings.compact = compact;
  return settings;
}

inline GraphMeta meta_of(const std::string& file) {
  GraphMeta meta;
  const auto opened = CheckedFile::open(memory_view(file), "file", kGraphMagic, kGraphVersion);
  EXPECT_TRUE(opened);
  std::memcpy(&meta, opened->section(kGraphMeta).data(), sizeof(meta));
  return meta;
}

/// A file with one section changed and right checksums.
inline std::string changed(const std::string& file, uint32_t id,
                           const std::function<void(std::string&)>& change) {
  auto opened = CheckedFile::open(memory_view(file), "good", kGraphMagic, kGraphVersion);
  EXPECT_TRUE(opened);
  std::vector<SectionSize> sizes;
  std::vector<std::string> sections;
  for (uint32_t i = kGraphMeta; i <= kGraphNodes; ++i) {
    sections.emplace_back(opened->section(i));
    if (i == id) {
      change(sections.back());
    }
    sizes.push_back({i, sections.back().size()});
  }
  std::string out;
  CheckedFileWriter writer(kGraphMagic, kGraphVersion, sizes, sink_into(out));
  for (const std::string& section : sections) {
    EXPECT_TRUE(writer.append(section));
  }
  EXPECT_TRUE(writer.finish());
  return out;
}

}  // namespace sibyl::index::graph_test
