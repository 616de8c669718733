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
/// Candidates that a search re-ranks for ten neighbours.
constexpr size_t kRanked = 16;
constexpr size_t kQueriesMin = 32;
constexpr size_t kQueriesMax = 200;
/// Products that the true neighbours of all queries may cost.
constexpr double kProductsMax = 2e10;
constexpr size_t kBlock = 256;
constexpr uint32_t kTried[] = {12,  16,  24,  32,  48,  64,  80,  96,   112,  128,
                               160, 192, 256, 320, 384, 512, 768, 1024, 1536, 2048};

struct Trial {
  std::vector<float> query;
  std::vector<uint32_t> nearest;
};

/// A vector moved along the difference of two others, by its distance from its own nearest
/// neighbour: near the vectors, but none of them.
std::vector<float> make_query(const GraphNodes& graph, std::span<const float> vectors,
                              std::mt19937_64& random) {
  const size_t dimension = graph.layout.dimension;
  const auto node = static_cast<uint32_t>(random() % graph.count);
  const float* from = vectors.data() + node * dimension;
  const float* left = vectors.data() + random() % graph.count * dimension;
  const float* right = vectors.data() + random() % graph.count * dimension;
  const float* near = vectors.data() + graph.neighbours(graph.node(node))[0] * dimension;
  const float step = std::sqrt(simd::squared_l2(from, near, dimension));
  const float length = std::sqrt(simd::squared_l2(left, right, dimension));
  const float factor = length > 0 ? step / length : 0.0F;
  std::vector<float> query(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    query[i] = from[i] + (left[i] - right[i]) * factor;
  }
  return query;
}

void find_nearest(std::span<const float> vectors, Metric metric, Trial& trial) {
  const size_t dimension = trial.query.size();
  const size_t count = vectors.size() / dimension;
  std::array<float, kBlock> scores;
  simd::TopK best(kNearest);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t some = std::min(kBlock, count - begin);
    const float* from = vectors.data() + begin * dimension;
    if (metric == Metric::kInnerProduct) {
      simd::dot_many(trial.query.data(), from, some, dimension, dimension, scores.data());
    } else {
      simd::squared_l2_many(trial.query.data(), from, some, dimension, dimension, scores.data());
    }
    for (size_t i = 0; i < some; ++i) {
      const float score = metric == Metric::kInnerProduct ? scores[i] : -scores[i];
      if (!best.full() || score > best.threshold()) {
        best.add(score, begin + i);
      }
    }
  }
  for (const simd::Scored& item : best.take()) {
    trial.nearest.push_back(static_cast<uint32_t>(item.key));
  }
}

/// How many of the nearest a walk finds.
size_t hits_of(const GraphNodes& graph, const CodeSpace& space, const Trial& trial, uint32_t effort,
               WalkScratch& scratch) {
  if (!scratch.query.prepare(space, trial.query)) {
    return trial.nearest.size();
  }
  walk(graph, effort, scratch);
  std::vector<Found>& found = scratch.found;
  const size_t ranked = std::min(kRanked, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(ranked), found.end(),
                    [](const Found& a, const Found& b) { return a.distance < b.distance; });
  size_t hits = 0;
  for (size_t i = 0; i < ranked; ++i) {
    hits +=
        static_cast<size_t>(std::count(trial.nearest.begin(), trial.nearest.end(), found[i].node));
  }
  return hits;
}

Result<double> recall_of(const GraphNodes& graph, const CodeSpace& space,
                         std::span<const Trial> trials, uint32_t effort,
                         std::span<WalkScratch> scratch, NeighbourWork& work) {
  std::vector<size_t> hits(trials.size());
  Result<void> done = work.for_each(trials.size(), 0, [&](size_t i, size_t worker) {
    hits[i] = hits_of(graph, space, trials[i], effort, scratch[worker]);
  });
  if (!done) {
    return pass_on(done);
  }
  double sum = 0;
  double all = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    sum += static_cast<double>(hits[i]);
    all += static_cast<double>(trials[i].nearest.size());
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
  Result<void> done = work.for_each(queries, share, [&](size_t i, size_t /*worker*/) {
    find_nearest(vectors, space.metric, trials[i]);
  });
  if (!done) {
    return pass_on(done);
  }
  std::vector<WalkScratch> scratch(work.workers());
  GraphEfforts efforts;
  efforts.fill(kTried[std::size(kTried) - 1]);
  size_t reached = 0;
  double before = 0;
  uint32_t effort_before = kTried[0];
  for (const uint32_t effort : kTried) {
    const Result<double> recall = recall_of(graph, space, trials, effort, scratch, work);
    if (!recall) {
      return tl::unexpected<Error>(recall.error());
    }
    // Between two efforts the recall is taken to grow evenly.
    while (reached < kGraphEfforts && *recall >= kGraphRecalls[reached]) {
      const double gap = *recall - before;
      const double part = gap > 0 ? std::max(0.0, kGraphRecalls[reached] - before) / gap : 1.0;
      efforts[reached++] =
          effort_before + static_cast<uint32_t>(std::ceil(part * (effort - effort_before)));
    }
    before = *recall;
    effort_before = effort;
    if (reached == kGraphEfforts || effort >= graph.count) {
      break;
    }
  }
  return efforts;
}

}  // namespace sibyl::index
