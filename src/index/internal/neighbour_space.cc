#include "index/internal/neighbour_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "simd/distance.h"
#include "simd/matrix_distance.h"

namespace sibyl::index {
namespace {

// Squares of values within 2^+-40 of 1, and sums of 32,768 of them, are far from float's ends.
constexpr float kLargeValue = 0x1p40F;
constexpr float kSmallValue = 0x1p-40F;

float largest_value(std::span<const float> vectors) {
  float largest = 0;
  for (const float value : vectors) {
    largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

}  // namespace

NeighbourSpace::NeighbourSpace(std::span<const float> vectors, size_t dimension, Metric metric)
    : vectors_(vectors), dimension_(dimension), norms_(vectors.size() / dimension) {
  const float largest = largest_value(vectors);
  if (largest > kLargeValue || (largest > 0 && largest < kSmallValue)) {
    rescale(largest);
  }
  find_centre();
  for (uint32_t node = 0; node < norms_.size(); ++node) {
    norms_[node] = simd::squared_l2(vector(node), centre_.data(), dimension_);
  }
  if (metric == Metric::kInnerProduct) {
    add_further();
  }
}

void NeighbourSpace::add_further() {
  std::vector<float> squares(norms_.size());
  for (uint32_t node = 0; node < norms_.size(); ++node) {
    squares[node] = simd::dot(vector(node), vector(node), dimension_);
  }
  const auto [shortest, longest] = std::minmax_element(squares.begin(), squares.end());
  // Lengths that differ by rounding alone are one length.
  if (squares.empty() || *longest - *shortest <= *longest * 1e-5F) {
    return;
  }
  further_.resize(norms_.size());
  const double bound = std::sqrt(static_cast<double>(*longest));
  for (size_t node = 0; node < norms_.size(); ++node) {
    const double squared = squares[node];
    const double height = std::sqrt(std::max(0.0, static_cast<double>(*longest) - squared));
    further_[node] = static_cast<float>(squared / (bound + height));
    norms_[node] += further_[node] * further_[node];
  }
}

void NeighbourSpace::find_centre() {
  std::vector<double> sums(dimension_);
  for (uint32_t node = 0; node < norms_.size(); ++node) {
    std::transform(sums.begin(), sums.end(), vector(node), sums.begin(), std::plus<double>());
  }
  centre_.resize(dimension_);
  const double count = std::max(1.0, static_cast<double>(norms_.size()));
  std::transform(sums.begin(), sums.end(), centre_.begin(),
                 [&](double sum) { return static_cast<float>(sum / count); });
}

void NeighbourSpace::rescale(float longest) {
  int exponent = 0;
  std::frexp(longest, &exponent);
  scaled_.resize(vectors_.size());
  std::transform(vectors_.begin(), vectors_.end(), scaled_.begin(),
                 [&](float value) { return std::ldexp(value, -exponent); });
  vectors_ = scaled_;
}

float NeighbourSpace::distance(uint32_t a, uint32_t b) const {
  const float plain = simd::squared_l2(vector(a), vector(b), dimension_);
  if (further_.empty()) {
    return plain;
  }
  const float apart = further_[a] - further_[b];
  return plain + apart * apart;
}

void NeighbourSpace::pack(std::span<const uint32_t> nodes, float* panel, float* norms) const {
  std::array<const float*, simd::kPanelRows> rows = {};
  std::fill(norms, norms + simd::kPanelRows, 0.0F);
  for (size_t i = 0; i < nodes.size(); ++i) {
    rows.at(i) = vector(nodes[i]);
    norms[i] = norms_[nodes[i]];
  }
  simd::pack_panel(rows.data(), nodes.size(), centre_.data(), dimension_, panel);
  if (!further_.empty()) {
    float* last = panel + dimension_ * simd::kPanelRows;
    std::fill(last, last + simd::kPanelRows, 0.0F);
    for (size_t i = 0; i < nodes.size(); ++i) {
      last[i] = further_[nodes[i]];
    }
  }
}

}  // namespace sibyl::index
