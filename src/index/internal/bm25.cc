#include <cmath>

#include "index/postings.h"

namespace sibyl::index {

double Bm25::inverse_frequency(uint64_t rows, uint64_t rows_with_term) const {
  const auto all = static_cast<double>(rows);
  const auto with = static_cast<double>(rows_with_term);
  return std::log(1.0 + (all - with + 0.5) / (with + 0.5));
}

double Bm25::term_part(double frequency, double length, double average_length) const {
  const double relative = average_length > 0 ? length / average_length : 0;
  return frequency / (frequency + k1 * (1.0 - b + b * relative));
}

}  // namespace sibyl::index
