#include "index/internal/code_trainer.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "index/internal/principal_axes.h"
#include "simd/distance.h"

namespace sibyl::index {
namespace {

constexpr size_t kSampleMax = 8192;
/// Above so many dimensions the sample shrinks, so that training stays a matter of seconds.
constexpr size_t kWideDimension = 1024;
constexpr size_t kWideSample = 1024;
constexpr size_t kHeadMax = 256;
constexpr int kMeansRounds = 12;
/// Mean squared error of a group of one, two and four equal normal numbers with 16 centroids, as a
/// share of their variance.
constexpr double kErrorOfOne = 0.0115;
constexpr double kErrorOfTwo = 0.107;
constexpr double kErrorOfFour = 0.33;

/// Unit directions from sampled nodes to one of their neighbours each.
std::vector<float> sample_directions(std::span<const float> vectors, size_t dimension,
                                     const NeighbourGraph& graph, uint64_t seed) {
  const size_t count = vectors.size() / dimension;
  const size_t wanted = std::min(count * 4, dimension > kWideDimension ? kWideSample : kSampleMax);
  std::mt19937_64 random(seed);
  std::vector<float> out;
  out.reserve(wanted * dimension);
  std::vector<float> direction(dimension);
  for (size_t s = 0; s < wanted; ++s) {
    const size_t node = random() % count;
    const uint32_t other = graph.of(node)[random() % graph.degree];
    if (other == NeighbourGraph::kNone) {
      continue;
    }
    for (size_t c = 0; c < dimension; ++c) {
      direction[c] = vectors[other * dimension + c] - vectors[node * dimension + c];
    }
    if (simd::normalize(direction.data(), dimension) > 0) {
      out.insert(out.end(), direction.begin(), direction.end());
    }
  }
  return out;
}

/// Groups of one, then of two, then of four axes, that leave the least error.
std::vector<uint8_t> choose_groups(const std::vector<float>& variances, size_t groups) {
  std::vector<double> before(variances.size() + 1, 0.0);
  for (size_t i = 0; i < variances.size(); ++i) {
    before[i + 1] = before[i] + variances[i];
  }
  const size_t axes = variances.size();
  double least = 1e300;
  std::vector<uint8_t> best;
  for (size_t ones = 0; ones <= std::min(groups, axes); ++ones) {
    for (size_t twos = 0; twos <= std::min(groups - ones, (axes - ones) / 2); ++twos) {
      const size_t two_end = ones + 2 * twos;
      const size_t fours = std::min(groups - ones - twos, (axes - two_end) / 4);
      const size_t end = two_end + 4 * fours;
      const double error =
          kErrorOfOne * before[ones] + kErrorOfTwo * (before[two_end] - before[ones]) +
          kErrorOfFour * (before[end] - before[two_end]) + before[axes] - before[end];
      if (error < least) {
        least = error;
        best.assign(ones, 1);
        best.insert(best.end(), twos, 2);
        best.insert(best.end(), fours, 4);
      }
    }
  }
  return best;
}

/// Lloyd's rounds over one group's numbers, [n x size]; centroids [16 x size].
void train_group(std::span<const float> numbers, size_t size, std::span<float> centroids) {
  const size_t n = numbers.size() / size;
  // The start: samples spread along the first number, which differ where the samples do.
  std::vector<uint32_t> order(n);
  for (size_t i = 0; i < n; ++i) {
    order[i] = static_cast<uint32_t>(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const float left = numbers[a * size];
    const float right = numbers[b * size];
    return left != right ? left < right : a < b;
  });
  for (size_t j = 0; j < 16; ++j) {
    const size_t from = order[(2 * j + 1) * n / 32];
    std::copy_n(numbers.data() + from * size, size, centroids.data() + j * size);
  }
  std::vector<double> sums(16 * size);
  for (int round = 0; round < kMeansRounds; ++round) {
    std::fill(sums.begin(), sums.end(), 0.0);
    size_t counts[16] = {};
    for (size_t i = 0; i < n; ++i) {
      const float* point = numbers.data() + i * size;
      size_t nearest = 0;
      float least = 3.4e38F;
      for (size_t j = 0; j < 16; ++j) {
        float distance = 0;
        for (size_t c = 0; c < size; ++c) {
          const float difference = point[c] - centroids[j * size + c];
          distance += difference * difference;
        }
        if (distance < least) {
          least = distance;
          nearest = j;
        }
      }
      ++counts[nearest];
      for (size_t c = 0; c < size; ++c) {
        sums[nearest * size + c] += point[c];
      }
    }
    for (size_t j = 0; j < 16; ++j) {
      for (size_t c = 0; c < size && counts[j] > 0; ++c) {
        centroids[j * size + c] =
            static_cast<float>(sums[j * size + c] / static_cast<double>(counts[j]));
      }
    }
  }
}

Result<void> train_centroids(std::span<const float> directions, NeighbourWork& work, double share,
                             CodeSpace& space) {
  const size_t dimension = space.dimension();
  const size_t head = space.head();
  const size_t n = directions.size() / dimension;
  std::vector<float> along(n * head);
  for (size_t i = 0; i < n; ++i) {
    simd::dot_many(directions.data() + i * dimension, space.axes.data(), head, dimension, dimension,
                   along.data() + i * head);
  }
  std::vector<size_t> first(space.groups() + 1, 0);
  for (size_t g = 0; g < space.groups(); ++g) {
    first[g + 1] = first[g] + space.group_size[g];
  }
  space.centroids.resize(head * 16);
  return work.for_each(space.groups(), share, [&](size_t g, size_t /*worker*/) {
    const size_t size = space.group_size[g];
    std::vector<float> numbers(n * size);
    for (size_t i = 0; i < n; ++i) {
      std::copy_n(along.data() + i * head + first[g], size, numbers.data() + i * size);
    }
    train_group(numbers, size, std::span(space.centroids).subspan(first[g] * 16, size * 16));
  });
}

}  // namespace

void measure_space(std::span<const float> vectors, size_t dimension, CodeSpace& space) {
  const size_t count = vectors.size() / dimension;
  std::vector<double> sums(dimension, 0.0);
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const float* vector = vectors.data() + i * dimension;
    for (size_t c = 0; c < dimension; ++c) {
      sums[c] += vector[c];
      squares += double{vector[c]} * vector[c];
    }
  }
  space.mean.resize(dimension);
  double mean_squared = 0;
  for (size_t c = 0; c < dimension; ++c) {
    const double mean = sums[c] / static_cast<double>(std::max<size_t>(count, 1));
    space.mean[c] = static_cast<float>(mean);
    mean_squared += mean * mean;
  }
  const double spread = squares / static_cast<double>(std::max<size_t>(count, 1)) - mean_squared;
  const auto unit = static_cast<float>(std::sqrt(std::max(spread, 0.0)));
  space.unit = unit > 1e-30F && unit < 1e30F ? unit : 1.0F;
}

Result<void> train_codes(std::span<const float> vectors, const NeighbourGraph& graph, size_t groups,
                         uint64_t seed, NeighbourWork& work, double share, CodeSpace& space) {
  const size_t dimension = space.dimension();
  std::vector<float> directions = sample_directions(vectors, dimension, graph, seed);
  if (directions.empty()) {  // all vectors are equal: any direction is as good
    directions.assign(dimension, 0.0F);
    directions[0] = 1;
  }
  Result<PrincipalAxes> found = principal_axes(
      directions, dimension, std::min(kHeadMax, groups * 4), seed + 1, work, share / 2);
  if (!found) {
    return pass_on(found);
  }
  space.group_size = choose_groups(found->variances, groups);
  size_t head = 0;
  for (const uint8_t size : space.group_size) {
    head += size;
  }
  found->axes.resize(head * dimension);
  space.axes = std::move(found->axes);
  return train_centroids(directions, work, share / 2, space);
}

}  // namespace sibyl::index
