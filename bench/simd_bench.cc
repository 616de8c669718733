// Kernels of room simd on one core: one JSON line each. Not compared with a peer here; see
// README.md.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "simd/distance.h"
#include "simd/neural.h"

namespace {

std::vector<float> random_floats(size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

/// Best of some repetitions of about 50 ms each, in seconds of processor time a call.
template <class Body>
double best_seconds(Body body) {
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    size_t calls = 0;
    double passed = 0;
    do {
      body();
      ++calls;
      passed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    } while (passed < 0.05);
    best = std::min(best, passed / static_cast<double>(calls));
  }
  return best;
}

void report(const std::string& what, double seconds, double flops) {
  std::printf(
      "{\"bench\": \"simd\", \"kernel\": \"%s\", \"what\": \"%s\", \"us\": %.2f, "
      "\"gflops\": %.1f}\n",
      std::string(sibyl::simd::kernel_name()).c_str(), what.c_str(), seconds * 1e6,
      flops / seconds * 1e-9);
}

void bench_attention(size_t tokens, size_t dimension) {
  const size_t stride = 3 * 384;
  const auto fused = random_floats(tokens * stride + 3 * dimension);
  std::vector<float> scratch(tokens * tokens);
  std::vector<float> out(tokens * 384);
  const double seconds = best_seconds([&] {
    sibyl::simd::attention_head(fused.data(), fused.data() + 384, fused.data() + 768, tokens,
                                dimension, stride, 0.17f, scratch.data(), out.data(), 384);
  });
  report("attention_head " + std::to_string(tokens) + " tokens x " + std::to_string(dimension),
         seconds, 4.0 * static_cast<double>(tokens * tokens * dimension));
}

}  // namespace

int main() {
  for (const size_t dimension : {32, 64}) {
    for (const size_t tokens : {16, 64, 128, 256, 512}) {
      bench_attention(tokens, dimension);
    }
  }
  const auto a = random_floats(256 * 384);
  const auto b = random_floats(384 * 384);
  std::vector<float> c(256 * 384);
  for (const size_t rows : {1, 16, 256}) {
    const double seconds = best_seconds([&] {
      sibyl::simd::matrix_product_transposed(a.data(), rows, 384, b.data(), 384, 384, 384, c.data(),
                                             384);
    });
    report("matrix_product_transposed " + std::to_string(rows) + " x 384 x 384", seconds,
           2.0 * static_cast<double>(rows) * 384 * 384);
  }
  std::vector<float> dots(4096);
  const auto table = random_floats(4096 * 384);
  report("dot_many 4096 x 384", best_seconds([&] {
           sibyl::simd::dot_many(a.data(), table.data(), 4096, 384, 384, dots.data());
         }),
         2.0 * 4096 * 384);
  auto x = random_floats(128 * 1536);
  const auto bias = random_floats(1536);
  report("bias_gelu 128 x 1536",
         best_seconds([&] { sibyl::simd::bias_gelu(x.data(), bias.data(), 128, 1536); }), 0);
  report("residual_layer_norm 128 x 384", best_seconds([&] {
           sibyl::simd::residual_layer_norm(a.data(), bias.data(), b.data(), bias.data(),
                                            bias.data(), 1e-12f, 128, 384, c.data());
         }),
         0);
  return 0;
}
