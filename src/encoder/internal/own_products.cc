#include "encoder/internal/own_products.h"

#include <algorithm>
#include <utility>

#include "simd/neural.h"

namespace sibyl::encoder {

namespace {

/// As many rows as keep a block of a wide layer in the second-level cache.
constexpr size_t kBlockRows = 192;

class PlainWeights final : public PackedWeights {
 public:
  PlainWeights(ProductShape shape, const float* values)
      : shape_(shape), values_(shape.in * shape.out) {
    std::copy_n(values, values_.size(), values_.data());
  }
  ProductShape shape() const override { return shape_; }
  const float* data() const { return values_.data(); }

 private:
  ProductShape shape_;
  FloatBuffer values_;
};

class OwnProducts final : public Products {
 public:
  std::unique_ptr<const PackedWeights> pack(const float* weights,
                                            ProductShape shape) const override {
    return std::make_unique<PlainWeights>(shape, weights);
  }
  std::unique_ptr<ProductScratch> make_scratch() const override {
    return std::make_unique<ProductScratch>();
  }
  void run(const PackedWeights& weights, const float* a, size_t rows, float* c,
           ProductScratch& /*scratch*/) const override {
    const auto& plain = static_cast<const PlainWeights&>(weights);
    const ProductShape shape = plain.shape();
    simd::matrix_product_transposed(a, rows, shape.in, plain.data(), shape.out, shape.in, shape.in,
                                    c, shape.out);
  }
  size_t row_step() const override { return 1; }
  size_t block_rows() const override { return kBlockRows; }
  std::string description() const override { return "own kernel, any number of rows"; }
};

}  // namespace

std::shared_ptr<const Products> open_own_products() {
  return std::make_shared<const OwnProducts>();
}

}  // namespace sibyl::encoder
