// Kernels of room simd on one core: one JSON line each. Not compared with a peer here; see
// README.md.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "simd/code_distance.h"
#include "simd/distance.h"
#include "simd/fast_scan.h"
#include "simd/hadamard.h"
#include "simd/levels.h"
#include "simd/neural.h"

namespace {

std::string level_name;

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
      level_name.c_str(), what.c_str(), seconds * 1e6, flops / seconds * 1e-9);
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

void bench_neural() {
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
  auto x = random_floats(128 * 1536);
  const auto bias = random_floats(1536);
  report("bias_gelu 128 x 1536",
         best_seconds([&] { sibyl::simd::bias_gelu(x.data(), bias.data(), 128, 1536); }), 0);
  report("residual_layer_norm 128 x 384", best_seconds([&] {
           sibyl::simd::residual_layer_norm(a.data(), bias.data(), b.data(), bias.data(),
                                            bias.data(), 1e-12f, 128, 384, c.data());
         }),
         0);
}

/// Sums 64-bit words: what reading a table costs without any arithmetic to speak of.
uint64_t read_all(const void* from, size_t bytes) {
  const auto* words = static_cast<const uint64_t*>(from);
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
  uint64_t d = 0;
  for (size_t i = 0; i + 4 <= bytes / 8; i += 4) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    d += words[i + 3];
  }
  return a + b + c + d;
}

#if defined(__clang__)
#define PLAIN __attribute__((noinline))
#else
#define PLAIN __attribute__((noinline, optimize("O3")))
#endif

// What a compiler makes of the plain loops, for the instruction set that the program is built for.
PLAIN float plain_dot(const float* a, const float* b, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

PLAIN int32_t plain_byte_dot(const int8_t* a, const int8_t* b, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += int32_t{a[i]} * b[i];
  }
  return sum;
}

PLAIN int32_t plain_bit_distance(const uint8_t* a, const uint8_t* b, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i + 8 <= n; i += 8) {
    uint64_t x = 0;
    uint64_t y = 0;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    sum += std::popcount(x ^ y);
  }
  return sum;
}

PLAIN int32_t plain_nibble_dot(const int8_t* q, const uint8_t* row, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n / 2; ++i) {
    sum += q[i] * (row[i] & 15) + q[n / 2 + i] * (row[i] >> 4);
  }
  return sum;
}

PLAIN uint32_t plain_scan(const uint8_t* codes, const uint8_t* table, size_t groups) {
  uint32_t sum = 0;
  for (size_t g = 0; g < groups; ++g) {
    sum += table[16 * g + codes[g]];
  }
  return sum;
}

volatile uint64_t kept = 0;  ///< So that results count as used.

/// A kernel over a table that is read once a call, beside the plain loop and the bare reading.
template <class Kernel, class Plain>
void report_scan(const std::string& what, const void* table, size_t bytes, double operations,
                 const Kernel& kernel, const Plain& plain) {
  const double seconds = best_seconds(kernel);
  const double plain_seconds = best_seconds(plain);
  const double read_seconds = best_seconds([&] { kept = kept + read_all(table, bytes); });
  const auto size = static_cast<double>(bytes);
  std::printf(
      "{\"bench\": \"simd\", \"kernel\": \"%s\", \"what\": \"%s\", \"table_bytes\": %zu, "
      "\"us\": %.2f, \"gops\": %.1f, \"gb_per_s\": %.1f, \"read_gb_per_s\": %.1f, "
      "\"times_plain\": %.1f}\n",
      level_name.c_str(), what.c_str(), bytes, seconds * 1e6, operations / seconds * 1e-9,
      size / seconds * 1e-9, size / read_seconds * 1e-9, plain_seconds / seconds);
}

/// Codes of vectors of 384 dimensions; in the second-level cache and beyond it.
void bench_codes(size_t rows) {
  constexpr size_t kDimension = 384;
  std::mt19937 random(2);
  std::vector<uint32_t> words(rows * kDimension / 4);
  std::generate(words.begin(), words.end(), [&] { return random(); });
  const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
  const auto* signed_bytes = reinterpret_cast<const int8_t*>(words.data());
  const std::vector<int8_t> query(signed_bytes, signed_bytes + kDimension);
  std::vector<int32_t> out(rows);
  const double pairs = 2.0 * static_cast<double>(rows) * kDimension;
  const std::string size = " " + std::to_string(rows) + " x 384";
  report_scan(
      "byte_dot_many" + size, bytes, rows * kDimension, pairs,
      [&] {
        sibyl::simd::byte_dot_many(query.data(), signed_bytes, rows, kDimension, kDimension,
                                   out.data());
      },
      [&] {
        for (size_t r = 0; r < rows; ++r) {
          out[r] = plain_byte_dot(query.data(), signed_bytes + r * kDimension, kDimension);
        }
      });
  report_scan(
      "nibble_dot_many" + size, bytes, rows * kDimension / 2, pairs,
      [&] {
        sibyl::simd::nibble_dot_many(query.data(), bytes, rows, kDimension / 2, kDimension,
                                     out.data());
      },
      [&] {
        for (size_t r = 0; r < rows; ++r) {
          out[r] = plain_nibble_dot(query.data(), bytes + r * kDimension / 2, kDimension);
        }
      });
  report_scan(
      "bit_distance_many" + size, bytes, rows * kDimension / 8, pairs,
      [&] {
        sibyl::simd::bit_distance_many(bytes, bytes, rows, kDimension / 8, kDimension, out.data());
      },
      [&] {
        for (size_t r = 0; r < rows; ++r) {
          out[r] = plain_bit_distance(bytes, bytes + r * kDimension / 8, kDimension / 8);
        }
      });
}

void bench_floats(size_t rows) {
  constexpr size_t kDimension = 384;
  const auto table = random_floats(rows * kDimension);
  const std::vector<uint16_t> halves(rows * kDimension, 0x3555);
  const double pairs = 2.0 * static_cast<double>(rows) * kDimension;
  std::vector<float> out(rows);
  const std::string size = " " + std::to_string(rows) + " x 384";
  const auto plain = [&] {
    for (size_t r = 0; r < rows; ++r) {
      out[r] = plain_dot(table.data(), table.data() + r * kDimension, kDimension);
    }
  };
  report_scan(
      "dot_many" + size, table.data(), rows * kDimension * sizeof(float), pairs,
      [&] {
        sibyl::simd::dot_many(table.data(), table.data(), rows, kDimension, kDimension, out.data());
      },
      plain);
  report_scan(
      "half_dot_many" + size, halves.data(), rows * kDimension * sizeof(uint16_t), pairs,
      [&] {
        sibyl::simd::half_dot_many(table.data(), halves.data(), rows, kDimension, kDimension,
                                   out.data());
      },
      plain);
}

/// Bounds of sign codes of 384 dimensions, as the flat index scans them.
void bench_fast_scan(size_t codes) {
  constexpr size_t kGroups = 96;
  const size_t blocks = codes / sibyl::simd::kFastScanCodes;
  std::mt19937 random(3);
  const size_t stride = sibyl::simd::fast_scan_block_bytes(kGroups) + 256;
  std::vector<uint64_t> memory(blocks * stride / 8);
  std::generate(memory.begin(), memory.end(), [&] { return random() & 0x3F3F3F3FU; });
  const auto* packed = reinterpret_cast<const uint8_t*>(memory.data());
  std::vector<uint8_t> table(16 * kGroups);
  std::generate(table.begin(), table.end(), [&] { return random() % 32; });
  const std::vector<float> errors(blocks, 0.6F);
  std::vector<float> bounds(codes);
  std::vector<float> best(blocks);
  const sibyl::simd::FastScanBlocks all{packed, stride, kGroups, errors.data()};
  const sibyl::simd::FastScanQuery query{table.data(), {0.1F, -1.0F}, 1.0F, 1.0F};
  report_scan(
      "fast_scan_bounds " + std::to_string(codes) + " x 384", packed, blocks * stride,
      static_cast<double>(codes) * kGroups,
      [&] {
        sibyl::simd::fast_scan_bounds(all, 0, blocks, query, nullptr, bounds.data(), best.data());
      },
      [&] {
        std::vector<uint8_t> code(kGroups, 7);
        for (size_t i = 0; i < codes; ++i) {
          kept = kept + plain_scan(code.data(), table.data(), kGroups);
        }
      });
}

void bench_small_pieces() {
  std::mt19937_64 random(4);
  std::vector<uint64_t> signs(sibyl::simd::Rotation::sign_words(384));
  std::generate(signs.begin(), signs.end(), [&] { return random(); });
  const sibyl::simd::Rotation rotation(384, signs);
  auto vector = random_floats(384);
  report("rotation 384", best_seconds([&] { rotation.apply(vector.data()); }), 0);
  std::vector<uint8_t> table(96 * 16);
  report("sign_table 384", best_seconds([&] { sibyl::simd::sign_table(vector, table.data()); }), 0);
}

}  // namespace

/// Arguments: levels of kernels to run at ("AVX2"); without any, the best.
int main(int count, char** arguments) {
  std::vector<std::string> levels(arguments + 1, arguments + count);
  if (levels.empty()) {
    levels.push_back(sibyl::simd::kernel_levels().front());
  }
  for (const std::string& level : levels) {
    if (!sibyl::simd::choose_kernels(level)) {
      std::fprintf(stderr, "no level %s here; the levels are:", level.c_str());
      for (const std::string& known : sibyl::simd::kernel_levels()) {
        std::fprintf(stderr, " '%s'", known.c_str());
      }
      std::fprintf(stderr, "\n");
      return 64;
    }
    level_name = level;
    for (const size_t rows : {1024, 65536}) {
      bench_floats(rows);
      bench_codes(rows);
      bench_fast_scan(rows);
    }
    bench_small_pieces();
    bench_neural();
  }
  return 0;
}
