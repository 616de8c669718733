#include "store/internal/tail_codes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simd/code_distance.h"

namespace sibyl::store {
namespace {

constexpr float kByteMost = 127;
/// Sums of float32 and their conversions, as a share of the product of lengths.
constexpr float kRounding = 1e-4F;
/// Vectors that are compared by one call.
constexpr size_t kTogether = 64;

}  // namespace

ByteVector ByteVector::code(std::span<const float> vector, std::span<int8_t> codes) {
  float most = 0;
  for (const float value : vector) {
    most = std::max(most, std::fabs(value));
  }
  ByteVector about;
  // A step so small that its inverse is no number leaves all to the error.
  const float inverse = kByteMost / most;
  const bool is_coded = std::isnormal(inverse) && std::isnormal(most);
  about.step = is_coded ? most / kByteMost : 0.0F;
  double length = 0;
  double error = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    const float scaled = is_coded ? vector[i] * inverse : 0.0F;
    const float rounded = std::clamp(scaled + (scaled < 0 ? -0.5F : 0.5F), -kByteMost, kByteMost);
    codes[i] = static_cast<int8_t>(rounded);
    const double coded = double{about.step} * codes[i];
    const double lost = vector[i] - coded;
    length += coded * coded;
    error += lost * lost;
  }
  about.length = static_cast<float>(std::sqrt(length));
  about.error = static_cast<float>(std::sqrt(error));
  return about;
}

TailQuery::TailQuery(std::span<const float> query) : codes_(query.size()) {
  about_ = ByteVector::code(query, codes_);
  length_ = about_.length + about_.error;
}

/// q v = q' v' + q (v - v') + (q - q') v', where ' marks what is coded.
float TailQuery::most(int32_t product, const ByteVector& about) const {
  const float coded = about_.step * about.step * static_cast<float>(product);
  return coded + length_ * about.error + about_.error * about.length +
         kRounding * length_ * (about.length + about.error);
}

void TailBlockCodes::add_row(std::span<const float> vectors) {
  for (size_t begin = 0; begin < vectors.size(); begin += dimension_) {
    codes_.resize(codes_.size() + dimension_);
    about_.push_back(
        ByteVector::code(vectors.subspan(begin, dimension_), std::span(codes_).last(dimension_)));
  }
  first_.push_back(static_cast<uint32_t>(about_.size()));
}

void TailBlockCodes::may_reach(const TailQuery& query, float floor,
                               std::vector<uint32_t>& rows) const {
  rows.clear();
  std::array<int32_t, kTogether> products;
  uint32_t row = 0;
  for (size_t begin = 0; begin < about_.size(); begin += kTogether) {
    const size_t count = std::min(kTogether, about_.size() - begin);
    simd::byte_dot_many(query.codes().data(), codes_.data() + begin * dimension_, count, dimension_,
                        dimension_, products.data());
    for (size_t i = 0; i < count; ++i) {
      while (first_[row + 1] <= begin + i) {
        ++row;
      }
      // What is no number is for the full comparison to judge.
      if (!(query.most(products[i], about_[begin + i]) < floor) &&
          (rows.empty() || rows.back() != row)) {
        rows.push_back(row);
      }
    }
  }
}

}  // namespace sibyl::store
