#include "encoder/internal/vector_head.h"

#include <algorithm>
#include <utility>

#include "simd/distance.h"
#include "simd/neural.h"

namespace sibyl::encoder {

namespace {

void apply_dense(const model::DenseModule& dense, std::vector<float>& vectors, size_t count) {
  std::vector<float> out(count * dense.out);
  simd::matrix_product_transposed(vectors.data(), count, dense.in, dense.weight.data(), dense.out,
                                  dense.in, dense.in, out.data(), dense.out);
  if (dense.activation == "gelu") {
    simd::bias_gelu(out.data(), dense.bias.data(), count, dense.out);
  } else {
    simd::add_bias(out.data(), dense.bias.data(), count, dense.out);
  }
  if (dense.activation == "tanh") {
    simd::tanh(out.data(), out.size());
  } else if (dense.activation == "relu") {
    for (float& value : out) {
      value = std::max(value, 0.0F);
    }
  } else if (dense.activation == "sigmoid") {
    // 1 / (1 + e^-x) = (1 + tanh(x / 2)) / 2
    for (float& value : out) {
      value *= 0.5F;
    }
    simd::tanh(out.data(), out.size());
    for (float& value : out) {
      value = 0.5F + 0.5F * value;
    }
  }
  vectors = std::move(out);
}

}  // namespace

VectorHead::VectorHead(std::shared_ptr<const model::ModelDirectory> model, size_t first)
    : model_(std::move(model)), first_(first) {}

void VectorHead::run(std::vector<float>& in, size_t count, size_t width, float* out) const {
  for (size_t i = first_; i < model_->modules.size(); ++i) {
    if (const auto* dense = std::get_if<model::DenseModule>(&model_->modules[i]);
        dense != nullptr) {
      apply_dense(*dense, in, count);
      width = dense->out;
    } else if (std::holds_alternative<model::NormalizeModule>(model_->modules[i])) {
      for (size_t v = 0; v < count; ++v) {
        simd::normalize(in.data() + v * width, width);
      }
    }
  }
  std::copy_n(in.data(), count * width, out);
}

}  // namespace sibyl::encoder
