#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "index/derived_index.h"
#include "index/internal/graph_file.h"
#include "index/memory_view.h"
#include "simd/distance.h"

namespace sibyl::index {
namespace {

struct Set {
  size_t dimension = 0;
  std::vector<uint32_t> parts;  ///< Vectors of each row.
  std::vector<float> vectors;
};

/// Vectors around centres that are the same for every seed; of length 1 if wanted.
Set make_set(size_t count, size_t dimension, bool unit, uint32_t seed) {
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

std::shared_ptr<const VectorIndex> exact_of(const Set& set) {
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

std::string file_of(const VectorIndex& vectors, const GraphSettings& settings) {
  std::string bytes;
  const auto written = write_graph_index(vectors, settings, [&](std::string_view part) {
    bytes += part;
    return Result<void>();
  });
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return bytes;
}

std::unique_ptr<VectorIndex> graph_of(const std::shared_ptr<const VectorIndex>& vectors,
                                      const GraphSettings& settings) {
  auto opened = open_graph_index(memory_view(file_of(*vectors, settings)), "graph", vectors);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(*opened);
}

float score_of(Metric metric, std::span<const float> query, std::span<const float> vector) {
  return metric == Metric::kInnerProduct
             ? simd::dot(query.data(), vector.data(), query.size())
             : -simd::squared_l2(query.data(), vector.data(), query.size());
}

/// The best rows by comparing everything.
std::vector<VectorHit> truth_of(const VectorIndex& vectors, Metric metric,
                                std::span<const float> query, size_t k, const RowSet* allowed) {
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
double recall_of(const VectorIndex& index, const VectorIndex& vectors, Metric metric, size_t k,
                 const RowSet* allowed, uint32_t seed, size_t queries = 40) {
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

GraphSettings settings_of(Metric metric, bool compact = false) {
  GraphSettings settings;
  settings.graph.metric = metric;
  settings.compact = compact;
  return settings;
}

TEST(GraphIndex, FindsTheNearestOfEveryMetricAndForm) {
  for (const bool unit : {true, false}) {
    const auto vectors = exact_of(make_set(700, 16, unit, 1));
    for (const Metric metric : {Metric::kInnerProduct, Metric::kSquaredL2}) {
      for (const bool compact : {false, true}) {
        const auto index = graph_of(vectors, settings_of(metric, compact));
        EXPECT_EQ(index->kind(), "graph");
        EXPECT_GE(recall_of(*index, *vectors, metric, 10, nullptr, 2), 0.95)
            << unit << static_cast<int>(metric) << compact;
      }
    }
  }
}

/// Clusters of 100 near vectors, in order or not; queries lie in the clusters.
struct Clusters {
  static constexpr size_t kEach = 100;
  static constexpr size_t kDimension = 16;
  Set set;
  std::vector<uint32_t> cluster_of;
  std::vector<float> queries;

  Clusters(size_t clusters, float spread, bool in_order, size_t queries_count) {
    std::mt19937 random(21);
    std::normal_distribution<float> normal;
    std::vector<float> centres(clusters * kDimension);
    for (float& value : centres) {
      value = normal(random);
    }
    const auto add = [&](size_t cluster, std::vector<float>& out) {
      for (size_t c = 0; c < kDimension; ++c) {
        out.push_back(centres[cluster * kDimension + c] + spread * normal(random));
      }
    };
    const size_t count = clusters * kEach;
    set = {kDimension, std::vector<uint32_t>(count, 1), {}};
    for (size_t i = 0; i < count; ++i) {
      cluster_of.push_back(static_cast<uint32_t>(in_order ? i / kEach : i % clusters));
      add(cluster_of.back(), set.vectors);
    }
    for (size_t i = 0; i < queries_count; ++i) {
      add(random() % clusters, queries);
    }
  }
  /// The rows of the first clusters.
  RowSet first(size_t clusters) const {
    RowSet rows(cluster_of.size());
    for (size_t row = 0; row < cluster_of.size(); ++row) {
      if (cluster_of[row] < clusters) {
        rows.insert(row);
      }
    }
    return rows;
  }
  double recall(const VectorIndex& index, const VectorIndex& vectors, const RowSet* allowed) const {
    size_t found = 0;
    std::vector<VectorHit> hits;
    for (size_t at = 0; at < queries.size(); at += kDimension) {
      const auto query = std::span(queries).subspan(at, kDimension);
      index.search(query, 10, allowed, hits);
      const float least = truth_of(vectors, Metric::kSquaredL2, query, 10, allowed).back().score;
      found += static_cast<size_t>(std::count_if(
          hits.begin(), hits.end(), [&](const VectorHit& hit) { return hit.score >= least; }));
    }
    return static_cast<double>(found) / static_cast<double>(queries.size() / kDimension * 10);
  }
};

TEST(GraphIndex, ManyTightClustersAreAllReachedWithAndWithoutAFilterOfSomeOfThem) {
  const Clusters made(80, 0.05F, false, 25);
  const auto vectors = exact_of(made.set);
  const auto index = graph_of(vectors, settings_of(Metric::kSquaredL2));
  EXPECT_GE(made.recall(*index, *vectors, nullptr), 0.95);
  for (const size_t clusters : {20U, 12U, 8U}) {
    const RowSet some = made.first(clusters);
    EXPECT_GE(made.recall(*index, *vectors, &some), 0.95) << clusters;
  }
}

TEST(GraphIndex, ManyWantedAndFewThere) {
  const auto vectors = exact_of(make_set(1200, 10, true, 3));
  const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct));
  for (const size_t k : {1U, 7U, 100U, 600U, 1200U, 5000U}) {
    EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, k, nullptr, 4, 10), 0.95) << k;
  }
  std::vector<VectorHit> hits(3);
  index->search(vectors->vectors_of(0), 0, nullptr, hits);
  EXPECT_TRUE(hits.empty());
}

TEST(GraphIndex, FiltersKeepRecallInEveryRegime) {
  const auto vectors = exact_of(make_set(3000, 16, true, 5));
  const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct));
  std::mt19937 random(6);
  const auto pole = vectors->vectors_of(17);
  for (const double share : {0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0}) {
    // By chance, near a pole, and far from it.
    std::vector<std::pair<float, uint32_t>> order;
    order.reserve(vectors->rows());
    for (uint32_t row = 0; row < vectors->rows(); ++row) {
      order.emplace_back(score_of(Metric::kInnerProduct, pole, vectors->vectors_of(row)), row);
    }
    std::sort(order.begin(), order.end());
    const auto count = static_cast<size_t>(share * static_cast<double>(order.size()));
    RowSet chance(vectors->rows());
    RowSet near(vectors->rows());
    RowSet far(vectors->rows());
    for (size_t i = 0; i < count; ++i) {
      far.insert(order[i].second);
      near.insert(order[order.size() - 1 - i].second);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < count; ++i) {
      chance.insert(order[i].second);
    }
    for (const RowSet* allowed : {&chance, &near, &far}) {
      EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, 10, allowed, 7, 20), 0.95)
          << share;
    }
  }
}

TEST(GraphIndex, RowsOfSeveralVectorsAreAnsweredOnce) {
  Set set = make_set(3000, 16, true, 8);
  set.parts.clear();
  std::mt19937 random(9);
  size_t left = 3000;
  while (left > 0) {
    const size_t parts = std::min<size_t>(left, random() % 8);
    set.parts.push_back(static_cast<uint32_t>(parts));
    left -= parts;
  }
  // One row has hundreds of vectors near each other.
  set.parts.push_back(300);
  for (size_t i = 0; i < 300; ++i) {
    for (size_t c = 0; c < 16; ++c) {
      set.vectors.push_back(set.vectors[c] + 0.001F * static_cast<float>(random() % 100));
    }
  }
  const auto vectors = exact_of(set);
  for (const bool compact : {false, true}) {
    const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct, compact));
    EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, 10, nullptr, 10), 0.95);
    RowSet odd(vectors->rows());
    for (size_t row = 1; row < vectors->rows(); row += 2) {
      odd.insert(row);
    }
    EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, 10, &odd, 11), 0.95);
    std::vector<VectorHit> hits;
    index->search(std::span(set.vectors).first(16), 20, nullptr, hits);
    EXPECT_EQ(hits.size(), 20U);
  }
}

TEST(GraphIndex, MoreEffortFindsMore) {
  const auto vectors = exact_of(make_set(6000, 32, true, 12));
  const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct));
  const Set queries = make_set(40, 32, true, 13);
  const auto hits_at = [&](const SearchOptions& options) {
    size_t found = 0;
    std::vector<VectorHit> hits;
    for (size_t q = 0; q < 40; ++q) {
      const auto query = std::span(queries.vectors).subspan(q * 32, 32);
      index->search_with(query, 10, nullptr, options, hits);
      const auto truth = truth_of(*vectors, Metric::kInnerProduct, query, 10, nullptr);
      for (const VectorHit& hit : hits) {
        found += std::count_if(truth.begin(), truth.end(),
                               [&](const VectorHit& other) { return other.row == hit.row; });
      }
    }
    return found;
  };
  EXPECT_LT(hits_at({.effort = 10}), hits_at({.effort = 200}));
  EXPECT_GE(hits_at({.effort = 200}), 396U);
  EXPECT_LE(hits_at({.recall_goal = 0.9F}), hits_at({.recall_goal = 0.999F}));
}

TEST(GraphIndex, OddVectorsAndQueries) {
  const auto empty = exact_of(Set{4, {0, 0}, {}});
  std::vector<VectorHit> hits;
  graph_of(empty, settings_of(Metric::kInnerProduct))
      ->search(std::vector<float>(4, 1.0F), 3, nullptr, hits);
  EXPECT_TRUE(hits.empty());

  const auto same = exact_of(Set{3, std::vector<uint32_t>(500, 1), std::vector<float>(1500, 0.5F)});
  const auto index = graph_of(same, settings_of(Metric::kSquaredL2));
  index->search(std::vector<float>(3, 0.5F), 5, nullptr, hits);
  ASSERT_EQ(hits.size(), 5U);
  EXPECT_EQ(hits[0].score, 0.0F);

  const auto vectors = exact_of(make_set(2000, 8, true, 14));
  const auto graph = graph_of(vectors, settings_of(Metric::kInnerProduct));
  for (const float value : {0.0F, 1e30F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    graph->search(std::vector<float>(8, value), 5, nullptr, hits);
    EXPECT_LE(hits.size(), 5U) << value;
  }
  std::vector<VectorHit> scores(2);
  const std::vector<uint32_t> rows = {7, 3};
  graph->score(vectors->vectors_of(3), rows, scores);
  EXPECT_EQ(scores[0].row, 7U);
  EXPECT_NEAR(scores[1].score, 1.0F, 1e-5F);
  graph->search_with(vectors->vectors_of(3), 5, nullptr, {.effort = SIZE_MAX}, hits);
  ASSERT_EQ(hits.size(), 5U);
  EXPECT_EQ(hits[0].row, 3U);
}

TEST(GraphIndex, LengthsAtTheEndsOfFloatAreAnsweredWithFiniteScores) {
  for (const float factor : {1e-41F, 1e16F, 1e20F}) {
    Set set = make_set(300, 8, false, 22);
    for (float& value : set.vectors) {
      value *= factor;
    }
    const auto vectors = exact_of(set);
    for (const Metric metric : {Metric::kInnerProduct, Metric::kSquaredL2}) {
      if (metric == Metric::kInnerProduct && factor > 1e18F) {
        continue;  // sums of infinities of both signs are no scores
      }
      const auto index = graph_of(vectors, settings_of(metric));
      std::vector<VectorHit> hits;
      index->search(vectors->vectors_of(3), 300, nullptr, hits);
      EXPECT_EQ(hits.size(), 300U) << factor;
      for (const VectorHit& hit : hits) {
        EXPECT_TRUE(std::isfinite(hit.score) && hit.score > kNoVector) << factor;
      }
    }
  }
}

GraphMeta meta_of(const std::string& file) {
  GraphMeta meta;
  const auto opened = CheckedFile::open(memory_view(file), "file", kGraphMagic, kGraphVersion);
  EXPECT_TRUE(opened);
  std::memcpy(&meta, opened->section(kGraphMeta).data(), sizeof(meta));
  return meta;
}

TEST(GraphIndex, EffortsAreFoundForCopiesAndForGreatLengthsToo) {
  // Each vector twice: the nearest neighbour is a copy, and either of two is as near.
  Set set = make_set(500, 12, false, 23);
  set.vectors.insert(set.vectors.end(), set.vectors.begin(), set.vectors.end());
  set.parts.assign(1000, 1);
  const GraphSettings settings = settings_of(Metric::kSquaredL2);
  const GraphMeta copies = meta_of(file_of(*exact_of(set), settings));
  EXPECT_EQ(copies.recall_max, 0.0F);
  EXPECT_LE(copies.efforts[kGraphEfforts - 1], 512U);
  // Squares that overflow are no success.
  for (float& value : set.vectors) {
    value *= std::ldexp(1.0F, 66);
  }
  const GraphMeta large = meta_of(file_of(*exact_of(set), settings));
  EXPECT_EQ(large.recall_max, 0.0F);
  EXPECT_GT(large.efforts[kGraphEfforts - 1], 16U);
  EXPECT_LE(large.efforts[kGraphEfforts - 1], 512U);
}

TEST(GraphIndex, TheSameSeedGivesTheSameFileAtAnyNumberOfThreads) {
  const auto vectors = exact_of(make_set(1500, 12, true, 15));
  GraphSettings settings = settings_of(Metric::kInnerProduct);
  const std::string one = file_of(*vectors, settings);
  settings.graph.threads = 3;
  EXPECT_EQ(one, file_of(*vectors, settings));
}

TEST(GraphIndex, RefusesWrongSettingsAndOtherVectors) {
  const auto vectors = exact_of(make_set(300, 12, true, 16));
  const ByteSink sink = [](std::string_view) { return Result<void>(); };
  GraphSettings settings;
  settings.graph.degree = 20;
  auto refused = write_graph_index(*vectors, settings, sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  settings.graph.degree = 32;
  NeighbourGraph graph{32, 0, std::vector<uint32_t>(size_t{300} * 32, 300)};
  refused = write_graph_index_of(*vectors, graph, settings, sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  const std::string file = file_of(*vectors, settings);
  const auto others = exact_of(make_set(300, 12, true, 17));
  const auto opened = open_graph_index(memory_view(file), "graph-file", others);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::DataLoss);
  EXPECT_NE(opened.error().message.find("graph-file"), std::string::npos);
}

/// A file with one section changed and right checksums.
std::string changed(const std::string& file, uint32_t id,
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
  CheckedFileWriter writer(kGraphMagic, kGraphVersion, sizes, [&out](std::string_view part) {
    out += part;
    return Result<void>();
  });
  for (const std::string& section : sections) {
    EXPECT_TRUE(writer.append(section));
  }
  EXPECT_TRUE(writer.finish());
  return out;
}

TEST(GraphIndex, HostileFilesAreRefusedOrSearchedWithoutHarm) {
  const auto vectors = exact_of(make_set(400, 12, true, 18));
  const std::string file = file_of(*vectors, settings_of(Metric::kInnerProduct));
  std::mt19937 random(19);
  const auto try_file = [&](const std::string& bytes) {
    const auto opened = open_graph_index(memory_view(bytes), "hostile", vectors);
    if (opened) {
      std::vector<VectorHit> hits;
      for (const size_t k : {1U, 10U}) {
        (*opened)->search_with(vectors->vectors_of(5), k, nullptr, {.effort = 5}, hits);
        EXPECT_EQ(hits.size(), k);
      }
    }
    return opened.has_value();
  };
  EXPECT_TRUE(try_file(file));
  for (uint32_t section = kGraphMeta; section <= kGraphNodes; ++section) {
    for (int i = 0; i < 60; ++i) {
      try_file(changed(file, section, [&](std::string& bytes) {
        for (int j = 0; j < 4; ++j) {
          bytes[random() % bytes.size()] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
        }
      }));
    }
    EXPECT_FALSE(try_file(changed(file, section, [](std::string& bytes) { bytes.pop_back(); })));
    EXPECT_FALSE(try_file(changed(file, section, [](std::string& bytes) { bytes += "12345678"; })));
  }
  // A number of a neighbour beyond the nodes.
  EXPECT_FALSE(try_file(changed(file, kGraphNodes, [](std::string& bytes) {
    const NodeLayout layout{12, 32, 3};
    const uint32_t beyond = 400;
    std::memcpy(bytes.data() + layout.neighbours_at() + 12, &beyond, 4);
  })));
  for (size_t i = 0; i < 40; ++i) {
    std::string flipped = file;
    flipped[random() % flipped.size()] ^= static_cast<char>(1U << random() % 8);
    EXPECT_FALSE(try_file(flipped));
  }
}

}  // namespace
}  // namespace sibyl::index
