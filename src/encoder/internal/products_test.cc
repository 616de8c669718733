#include "encoder/internal/products.h"

#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "base/random.h"

namespace sibyl::encoder {
namespace {

constexpr ProductShape kShape{96, 80};

FloatBuffer random_floats(size_t count, uint64_t seed) {
  FloatBuffer out(count);
  base::Random random(seed);
  for (size_t i = 0; i < count; ++i) {
    out.data()[i] = static_cast<float>(random.uniform()) - 0.5F;
  }
  return out;
}

class ProductsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { use_one_thread(); }
};

TEST_P(ProductsTest, MultiplyByTheTransposedWeights) {
  const auto products = Products::open({kShape}, GetParam());
  const FloatBuffer weights = random_floats(kShape.in * kShape.out, 1);
  const auto packed = products->pack(weights.data(), kShape);
  EXPECT_EQ(packed->shape(), kShape);
  const auto scratch = products->make_scratch();
  const size_t rows = 7 * products->row_step();
  const FloatBuffer a = random_floats(rows * kShape.in, 2);
  FloatBuffer c(rows * kShape.out);
  products->run(*packed, a.data(), rows, c.data(), *scratch);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < kShape.out; ++column) {
      double wanted = 0;
      for (size_t i = 0; i < kShape.in; ++i) {
        wanted += static_cast<double>(a.data()[row * kShape.in + i]) *
                  weights.data()[column * kShape.in + i];
      }
      ASSERT_NEAR(c.data()[row * kShape.out + column], wanted, 1e-5);
    }
  }
}

// The heart of the promise that a text's vector does not depend on the texts beside it.
TEST_P(ProductsTest, GiveARowTheSameBitsAmongAnyOthers) {
  const auto products = Products::open({{384, 384}, {1536, 64}}, GetParam());
  for (const ProductShape shape : {ProductShape{384, 384}, ProductShape{1536, 64}}) {
    const FloatBuffer weights = random_floats(shape.in * shape.out, 3);
    const auto packed = products->pack(weights.data(), shape);
    const auto scratch = products->make_scratch();
    const size_t step = products->row_step();
    const size_t most = (1100 + step - 1) / step * step;
    const FloatBuffer a = random_floats(most * shape.in, 4);
    FloatBuffer alone(step * shape.out);
    FloatBuffer together(most * shape.out);
    products->run(*packed, a.data(), most, together.data(), *scratch);
    FloatBuffer moved(step * shape.in);
    for (size_t row = 0; row < most; row += 37) {
      const size_t place = row % step;
      std::memcpy(moved.data() + place * shape.in, a.data() + row * shape.in,
                  shape.in * sizeof(float));
      products->run(*packed, moved.data(), step, alone.data(), *scratch);
      ASSERT_EQ(std::memcmp(alone.data() + place * shape.out, together.data() + row * shape.out,
                            shape.out * sizeof(float)),
                0)
          << products->description() << ", row " << row;
    }
  }
}

TEST_P(ProductsTest, RunInSeveralThreadsAtOnce) {
  const auto products = Products::open({kShape}, GetParam());
  const FloatBuffer weights = random_floats(kShape.in * kShape.out, 5);
  const auto packed = products->pack(weights.data(), kShape);
  const size_t rows = 10 * products->row_step();
  const FloatBuffer a = random_floats(rows * kShape.in, 6);
  std::vector<FloatBuffer> results;
  for (int i = 0; i < 3; ++i) {
    results.emplace_back(rows * kShape.out);
  }
  {
    std::vector<std::jthread> threads;
    for (FloatBuffer& result : results) {
      threads.emplace_back([&] {
        use_one_thread();
        const auto scratch = products->make_scratch();
        products->run(*packed, a.data(), rows, result.data(), *scratch);
      });
    }
  }
  for (const FloatBuffer& result : results) {
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ProductsTest, testing::Values(false, true),
                         [](const auto& kind) { return kind.param ? "Own" : "OneDnn"; });

TEST(FloatBuffer, StartsWithZerosOnACacheLine) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{1} << 20}) {
    FloatBuffer buffer(count);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0U);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(buffer.data()[i], 0.0F);
    }
  }
  FloatBuffer buffer;
  EXPECT_THROW(buffer.reset(SIZE_MAX), std::bad_alloc);
}

}  // namespace
}  // namespace sibyl::encoder
