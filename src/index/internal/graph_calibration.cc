#include "index/internal/graph_calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "simd/distance.h"
#include "simd/top_k.h"

namespace sibyl::index {
namespace {

constexpr size_t kNearest = 10;
constexpr size_t kQueriesMin = 32;
constexpr size_t kQueriesMax = 200;
/// Products that the true neighbours of all queries may cost.
constexpr double kProductsMax = 2e10;
constexpr size_t kBlock = 256;
/// Lengths whose squares are far from the ends of float32.
constexpr float kUnitLeast = 1e-12F;
constexpr float kUnitMost = 1e12F;
constexpr uint32_t kTried[] = {12,  16,  24,  32,  48,  64,  80,  96,   112,  128,
                               160, 192, 256, 320, 384, 512, 768, 1024, 1536, 2048};

struct Trial {
  std::vector<float> query;
  size_t nearest = 0;  ///< At most kNearest.
  float least = 0;     ///< Score of the last of them.
};

/// Vectors in the measure that scores are taken in.
struct Vectors {
  std::span<const float> values;
  float unit = 1;  ///< What they were divided by, so that no square overflows or vanishes.
};

double distance_of(const float* a, const float* b, size_t dimension) {
  double sum = 0;
  for (size_t i = 0; i < dimension; ++i) {
    const double apart = double{a[i]} - b[i];
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

/// Distance to the nearest neighbour that is not a copy of the node.
double step_of(const GraphNodes& graph, const float* vectors, uint32_t node) {
  const uint32_t* neighbours = graph.neighbours(graph.node(node));
  const size_t dimension = graph.layout.dimension;
  for (size_t i = 0; i < graph.layout.degree; ++i) {
    const double distance =
        distance_of(vectors + node * dimension, vectors + neighbours[i] * dimension, dimension);
    if (distance > 0) {
      return distance;
    }
  }
  return 0;
}

/// A vector moved along the difference of two others, by its distance from its own nearest
/// neighbour: near the vectors, but none of them.
std::vector<float> make_query(const GraphNodes& graph, std::span<const float> vectors,
                              std::mt19937_64& random) {
  const size_t dimension = graph.layout.dimension;
  const auto node = static_cast<uint32_t>(random() % graph.count);
  const float* from = vectors.data() + node * dimension;
  const float* left = vectors.data() + random() % graph.count * dimension;
  const float* right = vectors.data() + random() % graph.count * dimension;
  const double length = distance_of(left, right, dimension);
  const double factor = length > 0 ? step_of(graph, vectors.data(), node) / length : 0.0;
  std::vector<float> query(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    query[i] = static_cast<float>(from[i] + (double{left[i]} - right[i]) * factor);
  }
  return query;
}

/// Scores of vectors one after the other.
void score_many(Metric metric, std::span<const float> query, const float* from, size_t count,
                float* scores) {
  const size_t dimension = query.size();
  if (metric == Metric::kInnerProduct) {
    simd::dot_many(query.data(), from, count, dimension, dimension, scores);
    return;
  }
  simd::squared_l2_many(query.data(), from, count, dimension, dimension, scores);
  for (size_t i = 0; i < count; ++i) {
    scores[i] = -scores[i];
  }
}

std::vector<float> divided(std::span<const float> values, float unit) {
  std::vector<float> out(values.begin(), values.end());
  for (float& value : out) {
    value /= unit;
  }
  return out;
}

void find_nearest(const Vectors& vectors, Metric metric, Trial& trial) {
  const size_t dimension = trial.query.size();
  const size_t count = vectors.values.size() / dimension;
  const std::vector<float> query = divided(trial.query, vectors.unit);
  std::array<float, kBlock> scores;
  simd::TopK best(kNearest);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t some = std::min(kBlock, count - begin);
    score_many(metric, query, vectors.values.data() + begin * dimension, some, scores.data());
    for (size_t i = 0; i < some; ++i) {
      if (!best.full() || scores[i] > best.threshold()) {
        best.add(scores[i], begin + i);
      }
    }
  }
  const std::vector<simd::Scored> nearest = best.take();
  trial.nearest = nearest.size();
  trial.least = nearest.empty() ? 0.0F : nearest.back().score;
}

/// How many as near as the nearest a walk finds: of equally near ones any will do.
size_t hits_of(const GraphNodes& graph, const CodeSpace& space, const Vectors& vectors,
               const Trial& trial, uint32_t effort, WalkScratch& scratch) {
  if (!scratch.query.prepare(space, trial.query)) {
    return 0;
  }
  walk(graph, effort, scratch);
  keep_likely(kNearest, scratch);
  const std::vector<float> query = divided(trial.query, vectors.unit);
  size_t hits = 0;
  for (const Found& found : scratch.found) {
    float score = 0;
    score_many(space.metric, query, vectors.values.data() + found.node * query.size(), 1, &score);
    hits += score >= trial.least ? 1 : 0;
  }
  return std::min(hits, trial.nearest);
}

Result<double> recall_of(const GraphNodes& graph, const CodeSpace& space, const Vectors& vectors,
                         std::span<const Trial> trials, uint32_t effort,
                         std::span<WalkScratch> scratch, NeighbourWork& work) {
  std::vector<size_t> hits(trials.size());
  Result<void> done = work.for_each(trials.size(), 0, [&](size_t i, size_t worker) {
    hits[i] = hits_of(graph, space, vectors, trials[i], effort, scratch[worker]);
  });
  if (!done) {
    return pass_on(done);
  }
  double sum = 0;
  double all = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    sum += static_cast<double>(hits[i]);
    all += static_cast<double>(trials[i].nearest);
  }
  return sum / all;
}

}  // namespace

Result<GraphEfforts> calibrate_efforts(const GraphNodes& graph, const CodeSpace& space,
                                       std::span<const float> vectors, uint64_t seed,
                                       NeighbourWork& work, double share) {
  const size_t queries =
      std::clamp(static_cast<size_t>(kProductsMax / static_cast<double>(vectors.size())),
                 kQueriesMin, kQueriesMax);
  std::mt19937_64 random(seed);
  std::vector<Trial> trials(queries);
  for (Trial& trial : trials) {
    trial.query = make_query(graph, vectors, random);
  }
  std::vector<float> scaled;
  Vectors measured{vectors, 1};
  if (!(space.unit > kUnitLeast && space.unit < kUnitMost)) {
    scaled = divided(vectors, space.unit);
    measured = {scaled, space.unit};
  }
  Result<void> done = work.for_each(queries, share, [&](size_t i, size_t /*worker*/) {
    find_nearest(measured, space.metric, trials[i]);
  });
  if (!done) {
    return pass_on(done);
  }
  std::vector<WalkScratch> scratch(work.workers());
  GraphEfforts out;
  out.efforts.fill(kTried[std::size(kTried) - 1]);
  size_t reached = 0;
  double before = 0;
  uint32_t effort_before = kTried[0];
  for (const uint32_t effort : kTried) {
    const Result<double> recall = recall_of(graph, space, measured, trials, effort, scratch, work);
    if (!recall) {
      return tl::unexpected<Error>(recall.error());
    }
    // Between two efforts the recall is taken to grow evenly.
    while (reached < kGraphEfforts && *recall >= kGraphRecalls[reached]) {
      const double gap = *recall - before;
      const double part = gap > 0 ? std::max(0.0, kGraphRecalls[reached] - before) / gap : 1.0;
      out.efforts[reached++] =
          effort_before + static_cast<uint32_t>(std::ceil(part * (effort - effort_before)));
    }
    before = *recall;
    effort_before = effort;
    if (reached == kGraphEfforts || effort >= graph.count) {
      break;
    }
  }
  out.recall_max = reached < kGraphEfforts ? static_cast<float>(before) : 0.0F;
  return out;
}

}  // namespace sibyl::index
