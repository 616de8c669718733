// Writes the synthetic sets of the nearest-neighbour comparison: ann_set easy|hard FILE. Latent
// points around random centres, projected to 100 dimensions, a little noise, unit length. File:
// int32 vectors, dimension, queries; float32 vectors; float32 queries; int32 ids of the 10 largest
// inner products of each query. Little-endian, as every CPU this runs on.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "simd/distance.h"

namespace {

constexpr size_t kVectors = 200'000;
constexpr size_t kQueries = 1'000;
constexpr size_t kDimension = 100;
constexpr size_t kNeighbours = 10;

struct Shape {
  size_t latent;
  size_t centres;
  float deviation;
};

/// All draws come from one generator in one order, so the set is the same everywhere libstdc++ is.
std::vector<float> make_points(const Shape& shape) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  std::vector<float> centres(shape.centres * shape.latent);
  for (float& value : centres) {
    value = normal(random);
  }
  const float root = std::sqrt(static_cast<float>(shape.latent));
  std::vector<float> projection(shape.latent * kDimension);
  for (float& value : projection) {
    value = normal(random) / root;
  }
  std::vector<float> latents((kVectors + kQueries) * shape.latent);
  for (size_t point = 0; point < kVectors + kQueries; ++point) {
    const size_t centre = random() % shape.centres;
    for (size_t i = 0; i < shape.latent; ++i) {
      latents[point * shape.latent + i] =
          centres[centre * shape.latent + i] + shape.deviation * normal(random);
    }
  }
  std::vector<float> points((kVectors + kQueries) * kDimension);
  for (size_t point = 0; point < kVectors + kQueries; ++point) {
    float* out = points.data() + point * kDimension;
    for (size_t i = 0; i < shape.latent; ++i) {
      const float share = latents[point * shape.latent + i];
      for (size_t j = 0; j < kDimension; ++j) {
        out[j] += share * projection[i * kDimension + j];
      }
    }
  }
  for (size_t point = 0; point < kVectors + kQueries; ++point) {
    float* out = points.data() + point * kDimension;
    for (size_t j = 0; j < kDimension; ++j) {
      out[j] += 0.05F * normal(random);
    }
    sibyl::simd::normalize(out, kDimension);
  }
  return points;
}

std::vector<int32_t> nearest(const std::vector<float>& points) {
  std::vector<int32_t> ids;
  std::vector<float> scores(kVectors);
  std::vector<int32_t> order(kVectors);
  for (size_t query = 0; query < kQueries; ++query) {
    sibyl::simd::dot_many(points.data() + (kVectors + query) * kDimension, points.data(), kVectors,
                          kDimension, kDimension, scores.data());
    for (size_t i = 0; i < kVectors; ++i) {
      order[i] = static_cast<int32_t>(i);
    }
    std::partial_sort(order.begin(), order.begin() + kNeighbours, order.end(),
                      [&](int32_t a, int32_t b) {
                        const float left = scores[static_cast<size_t>(a)];
                        const float right = scores[static_cast<size_t>(b)];
                        return left != right ? left > right : a < b;
                      });
    ids.insert(ids.end(), order.begin(), order.begin() + kNeighbours);
  }
  return ids;
}

template <class Value>
void put(std::ofstream& file, const std::vector<Value>& values) {
  std::string bytes(values.size() * sizeof(Value), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  file << bytes;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string which = argument_count == 3 ? arguments[1] : "";
  if (which != "easy" && which != "hard") {
    std::fputs("usage: ann_set easy|hard FILE\n", stderr);
    return 64;
  }
  const auto points =
      make_points(which == "easy" ? Shape{40, 1'000, 0.7F} : Shape{30, 20'000, 1.0F});
  std::ofstream file(arguments[2], std::ios::binary);
  put(file, std::vector<int32_t>{kVectors, kDimension, kQueries});
  put(file, points);
  put(file, nearest(points));
  file.close();
  if (!file) {
    std::fprintf(stderr, "ann_set: %s cannot be written\n", arguments[2]);
    return 74;
  }
  return 0;
}
