#include "index/internal/flat_coder.h"

#include <algorithm>
#include <cmath>

namespace sibyl::index {
namespace {

/// Greatest squared length that is coded: products with it stay far from infinity.
constexpr double kSquaredLengthMax = 1e30;

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * b[i];
  }
  return sum;
}

float largest(std::span<const float> values) {
  float most = 0;
  for (const float value : values) {
    most = std::max(most, std::fabs(value));
  }
  return most;
}

}  // namespace

FlatCoder::FlatCoder(Metric metric, std::span<const uint64_t> signs, std::span<const float> centre)
    : metric_(metric),
      centre_(centre),
      centre_squared_(dot(centre, centre)),
      rotation_((centre.size() + 63) / 64 * 64, signs) {}

bool FlatCoder::rotate(std::span<const float> vector, std::span<float> out, Rotated& about) const {
  double squared = 0;
  double with_centre = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    const float difference = vector[i] - centre_[i];
    out[i] = difference;
    squared += static_cast<double>(difference) * difference;
    with_centre += static_cast<double>(difference) * centre_[i];
  }
  if (!(squared <= kSquaredLengthMax) || !(std::fabs(with_centre) <= kSquaredLengthMax)) {
    return false;
  }
  std::fill(out.begin() + static_cast<ptrdiff_t>(vector.size()), out.end(), 0.0F);
  rotation_.apply(out.data());
  about = {squared, static_cast<float>(metric_ == Metric::kInnerProduct ? with_centre : -squared)};
  return true;
}

FlatCoder::Coarse FlatCoder::coarse(std::span<const float> rotated, double squared_length,
                                    uint8_t* groups) {
  simd::sign_codes(rotated, groups);
  double magnitude = 0;
  for (const float value : rotated) {
    magnitude += std::fabs(value);
  }
  if (magnitude == 0) {
    return {};
  }
  const auto dimension = static_cast<double>(rotated.size());
  const double cosine_squared = std::min(1.0, magnitude * magnitude / (dimension * squared_length));
  return {static_cast<float>(squared_length / magnitude),
          static_cast<float>(std::sqrt((1 - cosine_squared) * dimension / (dimension - 1)))};
}

float FlatCoder::fine(std::span<const float> rotated, int8_t* code) {
  const float step = largest(rotated) / 127;
  const float inverse = std::isnormal(1 / step) ? 1 / step : 0;
  for (size_t i = 0; i < rotated.size(); ++i) {
    const float scaled = std::clamp(rotated[i] * inverse, -127.0F, 127.0F);
    code[i] = static_cast<int8_t>(scaled + (scaled < 0 ? -0.5F : 0.5F));
  }
  return inverse == 0 ? 0 : step;
}

bool FlatCoder::query(std::span<const float> query, Query& out) const {
  const bool inner_product = metric_ == Metric::kInnerProduct;
  const double with_centre = dot(query, centre_);
  const double share = inner_product && centre_squared_ > 0 ? with_centre / centre_squared_ : 0;
  std::vector<float> rotated(padded(), 0.0F);
  double squared = 0;
  for (size_t i = 0; i < query.size(); ++i) {
    rotated[i] = inner_product ? static_cast<float>(query[i] - share * centre_[i])
                               : 2 * (query[i] - centre_[i]);
    squared += static_cast<double>(rotated[i]) * rotated[i];
  }
  const double constant = inner_product ? with_centre : -squared / 4;
  if (!(squared <= kSquaredLengthMax) || !(std::fabs(constant) <= kSquaredLengthMax) ||
      !(std::fabs(share) <= kSquaredLengthMax)) {
    return false;
  }
  rotation_.apply(rotated.data());
  out.table.resize(padded() * 4);
  out.scale = simd::sign_table(rotated, out.table.data());
  out.fine.resize(padded());
  out.fine_step = fine(rotated, out.fine.data());
  out.length = static_cast<float>(std::sqrt(squared));
  out.offset_share = inner_product ? static_cast<float>(share) : 1.0F;
  out.constant = static_cast<float>(constant);
  return true;
}

}  // namespace sibyl::index
