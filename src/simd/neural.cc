#include "simd/neural.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/neural.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

/// numerator / denominator, both polynomials of `square` by Horner, highest power first.
template <size_t kTop, size_t kBottom>
HWY_INLINE FloatVector rational(FloatVector square, const float (&top)[kTop],
                                const float (&bottom)[kBottom]) {
  const Floats d;
  auto p = hn::Set(d, top[0]);
  SIBYL_SIMD_UNROLL
  for (size_t i = 1; i < kTop; ++i) {
    p = hn::MulAdd(p, square, hn::Set(d, top[i]));
  }
  auto q = hn::Set(d, bottom[0]);
  SIBYL_SIMD_UNROLL
  for (size_t i = 1; i < kBottom; ++i) {
    q = hn::MulAdd(q, square, hn::Set(d, bottom[i]));
  }
  return hn::Div(p, q);
}

/// erf by a rational minimax approximation (as Eigen and XLA have it), a few units in the last
/// place.
HWY_INLINE FloatVector erf(FloatVector x) {
  constexpr float kTop[] = {-2.72614225801306e-10f, 2.77068142495902e-08f,  -2.10102402082508e-06f,
                            -5.69250639462346e-05f, -7.34990630326855e-04f, -2.95459980854025e-03f,
                            -1.60960333262415e-02f};
  constexpr float kBottom[] = {-1.45660718464996e-05f, -2.13374055278905e-04f,
                               -1.68282697438203e-03f, -7.37332916720468e-03f,
                               -1.42647390514189e-02f};
  const Floats d;
  const auto four = hn::Set(d, 4.0f);
  const auto inside = hn::Min(hn::Max(x, hn::Neg(four)), four);
  const auto value = hn::Mul(inside, rational(hn::Mul(inside, inside), kTop, kBottom));
  // Beyond 4 exactly one, so that a large x is not multiplied by the last place of the fraction.
  const auto one = hn::CopySignToAbs(hn::Set(d, 1.0f), x);
  return hn::IfThenElse(hn::Ge(hn::Abs(x), four), one, value);
}

HWY_INLINE FloatVector gelu(FloatVector x) {
  const Floats d;
  const auto half = hn::Mul(x, hn::Set(d, 0.5f));
  return hn::MulAdd(half, erf(hn::Mul(x, hn::Set(d, 0.70710678118654752f))), half);
}

HWY_INLINE FloatVector tanh_of(FloatVector x) {
  constexpr float kTop[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                            5.12229709037114e-08f,  1.48572235717979e-05f, 6.37261928875436e-04f,
                            4.89352455891786e-03f};
  constexpr float kBottom[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f,
                               4.89352518554385e-03f};
  const Floats d;
  const auto limit = hn::Set(d, 7.90531110763549805f);
  const auto inside = hn::Min(hn::Max(x, hn::Neg(limit)), limit);
  const auto value = hn::Mul(inside, rational(hn::Mul(inside, inside), kTop, kBottom));
  const auto small = hn::Lt(hn::Abs(x), hn::Set(d, 0.0004f));
  return hn::IfThenElse(small, x, value);
}

struct AddBias {
  static HWY_INLINE FloatVector of(FloatVector x, FloatVector bias) { return hn::Add(x, bias); }
};
struct BiasGelu {
  static HWY_INLINE FloatVector of(FloatVector x, FloatVector bias) {
    return gelu(hn::Add(x, bias));
  }
};

template <class Operation>
HWY_INLINE void with_bias(float* x, const float* bias, size_t rows, size_t columns) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r, x += columns) {
    size_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
      hn::StoreU(Operation::of(hn::LoadU(d, x + i), hn::LoadU(d, bias + i)), d, x + i);
    }
    if (i < columns) {
      const size_t rest = columns - i;
      const auto value =
          Operation::of(load_partial(d, x + i, rest), load_partial(d, bias + i, rest));
      store_partial(d, value, x + i, rest);
    }
  }
}

void bias_gelu(float* x, const float* bias, size_t rows, size_t columns) {
  with_bias<BiasGelu>(x, bias, rows, columns);
}

void add_bias(float* x, const float* bias, size_t rows, size_t columns) {
  with_bias<AddBias>(x, bias, rows, columns);
}

void tanh(float* x, size_t count) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(tanh_of(hn::LoadU(d, x + i)), d, x + i);
  }
  if (i < count) {
    store_partial(d, tanh_of(load_partial(d, x + i, count - i)), x + i, count - i);
  }
}

/// out = x + bias + residual; returns the sum of out.
HWY_INLINE float add_row(const float* x, const float* bias, const float* residual, size_t columns,
                         float* out) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= columns; i += lanes) {
    auto value = hn::LoadU(d, x + i);
    value = bias != nullptr ? hn::Add(value, hn::LoadU(d, bias + i)) : value;
    value = residual != nullptr ? hn::Add(value, hn::LoadU(d, residual + i)) : value;
    hn::StoreU(value, d, out + i);
    sum = hn::Add(sum, value);
  }
  if (i < columns) {
    const size_t rest = columns - i;
    auto value = load_partial(d, x + i, rest);
    value = bias != nullptr ? hn::Add(value, load_partial(d, bias + i, rest)) : value;
    value = residual != nullptr ? hn::Add(value, load_partial(d, residual + i, rest)) : value;
    store_partial(d, value, out + i, rest);
    sum = hn::Add(sum, value);
  }
  return sum_lanes(d, sum);
}

/// Subtracts the mean in place; returns the sum of the squares of what is left. Two passes, because
/// the difference of large sums would lose the variance of rows far from zero.
HWY_INLINE float centre_row(float* row, float mean, size_t columns) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const auto means = hn::Set(d, mean);
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= columns; i += lanes) {
    const auto value = hn::Sub(hn::LoadU(d, row + i), means);
    hn::StoreU(value, d, row + i);
    sum = hn::MulAdd(value, value, sum);
  }
  float tail = 0;
  for (; i < columns; ++i) {
    row[i] -= mean;
    tail += row[i] * row[i];
  }
  return sum_lanes(d, sum) + tail;
}

void residual_layer_norm(const float* x, const float* bias, const float* residual,
                         const float* gain, const float* shift, float epsilon, size_t rows,
                         size_t columns, float* out) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r, x += columns, out += columns) {
    const float mean = add_row(x, bias, residual, columns, out) / static_cast<float>(columns);
    residual = residual != nullptr ? residual + columns : nullptr;
    const float variance = centre_row(out, mean, columns) / static_cast<float>(columns);
    const float factor = 1.0f / std::sqrt(variance + epsilon);
    const auto factors = hn::Set(d, factor);
    size_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
      const auto value = hn::Mul(hn::LoadU(d, out + i), factors);
      hn::StoreU(hn::MulAdd(value, hn::LoadU(d, gain + i), hn::LoadU(d, shift + i)), d, out + i);
    }
    if (i < columns) {
      const size_t rest = columns - i;
      const auto value = hn::Mul(load_partial(d, out + i, rest), factors);
      store_partial(
          d, hn::MulAdd(value, load_partial(d, gain + i, rest), load_partial(d, shift + i, rest)),
          out + i, rest);
    }
  }
}

void softmax(float* x, size_t rows, size_t columns, size_t stride, float scale) {
  for (size_t r = 0; r < rows; ++r) {
    softmax_row(x + r * stride, columns, scale);
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(bias_gelu);
HWY_EXPORT(add_bias);
HWY_EXPORT(tanh);
HWY_EXPORT(residual_layer_norm);
HWY_EXPORT(softmax);

void bias_gelu(float* x, const float* bias, size_t rows, size_t columns) {
  HWY_DYNAMIC_DISPATCH(bias_gelu)(x, bias, rows, columns);
}

void add_bias(float* x, const float* bias, size_t rows, size_t columns) {
  HWY_DYNAMIC_DISPATCH(add_bias)(x, bias, rows, columns);
}

void tanh(float* x, size_t count) {
  HWY_DYNAMIC_DISPATCH(tanh)(x, count);
}

void residual_layer_norm(const float* x, const float* bias, const float* residual,
                         const float* gain, const float* shift, float epsilon, size_t rows,
                         size_t columns, float* out) {
  HWY_DYNAMIC_DISPATCH(residual_layer_norm)
  (x, bias, residual, gain, shift, epsilon, rows, columns, out);
}

void softmax(float* x, size_t rows, size_t columns, size_t stride, float scale) {
  HWY_DYNAMIC_DISPATCH(softmax)(x, rows, columns, stride, scale);
}

}  // namespace sibyl::simd
#endif
