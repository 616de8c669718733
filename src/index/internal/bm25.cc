#include "index/bm25.h"

#include <algorithm>
#include <cmath>

namespace sibyl::index {
namespace {

/// Rounding may turn two shares around that differ by less; a bound is raised above that.
constexpr double kBoundMargin = 1.0 + 1e-12;

}  // namespace

double Bm25::inverse_frequency(uint64_t rows, uint64_t rows_with_term) const {
  const auto all = static_cast<double>(rows);
  const auto with = static_cast<double>(rows_with_term);
  return std::log(1.0 + (all - with + 0.5) / (with + 0.5));
}

double Bm25::term_part(double frequency, double length, double average_length) const {
  const double relative = average_length > 0 ? length / average_length : 0;
  return frequency / (frequency + k1 * (1.0 - b + b * relative));
}

Bm25Share::Bm25Share(const Bm25& bm25, double factor, double average_length, double factor_sum)
    : factor_(factor),
      base_(bm25.k1 * (1.0 - bm25.b)),
      slope_(average_length > 0 ? bm25.k1 * bm25.b / average_length : 0) {
  // No share exceeds its factor, so no sum exceeds 2^exponent; numbers around the shift are
  // 2^(exponent - 51) apart, and sums of such steps up to 2^exponent have no more than 52 bits.
  int exponent = 0;
  std::frexp(factor_sum, &exponent);
  shift_ = std::ldexp(1.5, exponent + 1);
}

double Bm25Share::bound(uint32_t frequency_max, uint32_t length_min) const {
  if (factor_ <= 0) {
    return 0;
  }
  const double times = frequency_max;
  const double share = factor_ * (times / (times + (base_ + slope_ * length_min)));
  return rounded(share * kBoundMargin);
}

}  // namespace sibyl::index
