#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "base/random.h"
#include "base/thread_pool.h"
#include "index/derived_index.h"
#include "index/internal/flat_coder.h"
#include "index/internal/vector_file.h"

namespace sibyl::index {
namespace {

/// Vectors whose mean is the centre.
constexpr size_t kCentreSample = 65536;
/// Blocks that are coded by one task, and tasks that are written together.
constexpr size_t kTaskBlocks = 32;
constexpr size_t kTasksTogether = 64;

std::vector<uint64_t> draw_signs(size_t padded, uint64_t seed) {
  base::Random random(seed);
  std::vector<uint64_t> signs(simd::Rotation::sign_words(padded));
  for (uint64_t& word : signs) {
    word = random.next_u64();
  }
  return signs;
}

/// Reads vectors in their order, across rows.
class VectorWalk {
 public:
  VectorWalk(const VectorIndex& vectors, std::span<const uint32_t> first, size_t vector)
      : vectors_(vectors), first_(first), vector_(vector) {
    row_ =
        static_cast<size_t>(std::upper_bound(first.begin(), first.end(), vector) - first.begin()) -
        1;
  }
  std::span<const float> next() {
    while (first_[row_ + 1] <= vector_) {
      ++row_;
    }
    const size_t dimension = vectors_.dimension();
    const auto row = vectors_.vectors_of(static_cast<uint32_t>(row_));
    return row.subspan((vector_++ - first_[row_]) * dimension, dimension);
  }

 private:
  const VectorIndex& vectors_;
  std::span<const uint32_t> first_;
  size_t vector_;
  size_t row_ = 0;
};

std::vector<float> mean_of(const VectorIndex& vectors, std::span<const uint32_t> first) {
  const size_t count = first.back();
  const size_t samples = std::min(count, kCentreSample);
  std::vector<double> sum(vectors.dimension(), 0.0);
  for (size_t i = 0; i < samples; ++i) {
    const auto vector = VectorWalk(vectors, first, i * count / samples).next();
    for (size_t j = 0; j < vector.size(); ++j) {
      sum[j] += vector[j];
    }
  }
  std::vector<float> mean(sum.size(), 0.0F);
  for (size_t j = 0; j < sum.size() && samples > 0; ++j) {
    mean[j] = static_cast<float>(sum[j] / static_cast<double>(samples));
  }
  return mean;
}

/// Codes vectors and writes them, one section after the other, so that only a few blocks are in
/// memory at a time. What is coded does not depend on the number of threads.
class FlatWriter {
 public:
  FlatWriter(const VectorIndex& vectors, std::vector<uint32_t> first, const FlatSettings& settings,
             const BuildProgress& progress)
      : vectors_(vectors),
        first_(std::move(first)),
        shape_{first_.back(), vectors.dimension()},
        signs_(draw_signs(shape_.padded(), settings.seed)),
        centre_(mean_of(vectors, first_)),
        coder_(settings.metric, signs_, centre_),
        progress_(progress),
        pool_(settings.threads > 1
                  ? std::make_unique<base::ThreadPool>(settings.threads - 1, kTasksTogether)
                  : nullptr),
        errors_(shape_.blocks(), 0.0F),
        steps_(shape_.vectors, 0.0F),
        uncoded_(shape_.uncoded_words(), 0) {}

  Result<void> write(const ByteSink& sink) {
    const FlatMeta meta{vectors_.rows(), shape_.vectors, flat_fingerprint(vectors_, first_),
                        static_cast<uint32_t>(shape_.dimension),
                        static_cast<uint32_t>(coder_.metric())};
    CheckedFileWriter writer(kFlatMagic, kFlatVersion,
                             {{kFlatMeta, sizeof(meta)},
                              {kFlatSigns, signs_.size() * sizeof(uint64_t)},
                              {kFlatCentre, centre_.size() * sizeof(float)},
                              {kFlatBlocks, shape_.blocks() * shape_.block_bytes()},
                              {kFlatErrors, errors_.size() * sizeof(float)},
                              {kFlatUncoded, uncoded_.size() * sizeof(uint64_t)},
                              {kFlatFineCodes, shape_.vectors * shape_.padded()},
                              {kFlatFineSteps, steps_.size() * sizeof(float)}},
                             sink);
    Result<void> done = writer.append_values(std::span<const FlatMeta>(&meta, 1));
    if (done) {
      done = writer.append_values(std::span<const uint64_t>(signs_));
    }
    if (done) {
      done = writer.append_values(std::span<const float>(centre_));
    }
    if (done) {
      done = write_blocks(writer, shape_.block_bytes(), 0.0, &FlatWriter::code_coarse);
    }
    if (done) {
      done = writer.append_values(std::span<const float>(errors_));
    }
    if (done) {
      done = writer.append_values(std::span<const uint64_t>(uncoded_));
    }
    if (done) {
      done =
          write_blocks(writer, simd::kFastScanCodes * shape_.padded(), 0.5, &FlatWriter::code_fine);
    }
    if (done) {
      done = writer.append_values(std::span<const float>(steps_));
    }
    return done ? writer.finish() : done;
  }

  /// Memory that a build of `shape` takes at once.
  static uint64_t bytes_needed(const FlatShape& shape, size_t rows) {
    const uint64_t together = kTasksTogether * kTaskBlocks * simd::kFastScanCodes;
    return (rows + 1) * sizeof(uint32_t) + shape.blocks() * sizeof(float) +
           shape.vectors * sizeof(float) + shape.uncoded_words() * sizeof(uint64_t) +
           std::min<uint64_t>(together, shape.blocks() * simd::kFastScanCodes) * shape.padded();
  }

 private:
  using CodeBlock = void (FlatWriter::*)(size_t block, char* out);

  Result<void> write_blocks(CheckedFileWriter& writer, size_t block_bytes, double done_before,
                            CodeBlock code_block) {
    const size_t blocks = shape_.blocks();
    const size_t together = std::min(kTasksTogether * kTaskBlocks, blocks);
    std::string buffer(together * block_bytes, '\0');
    for (size_t begin = 0; begin < blocks; begin += together) {
      const size_t count = std::min(together, blocks - begin);
      const size_t tasks = (count + kTaskBlocks - 1) / kTaskBlocks;
      for_each_task(tasks, [&](size_t task) {
        for (size_t i = task * kTaskBlocks; i < std::min(count, (task + 1) * kTaskBlocks); ++i) {
          (this->*code_block)(begin + i, buffer.data() + i * block_bytes);
        }
      });
      const bool fine = code_block == &FlatWriter::code_fine;
      const size_t bytes = fine ? std::min(count * simd::kFastScanCodes,
                                           shape_.vectors - begin * simd::kFastScanCodes) *
                                      shape_.padded()
                                : count * block_bytes;
      if (Result<void> done = writer.append({buffer.data(), bytes}); !done) {
        return done;
      }
      const double share = static_cast<double>(begin + count) / static_cast<double>(blocks);
      if (progress_ && !progress_(done_before + share / 2)) {
        return fail(Code::Interrupted, "making the flat index was cancelled");
      }
    }
    return {};
  }

  void for_each_task(size_t tasks, const std::function<void(size_t)>& work) {
    if (pool_ != nullptr) {
      pool_->for_each(tasks, work);
      return;
    }
    for (size_t task = 0; task < tasks; ++task) {
      work(task);
    }
  }

  size_t count_in(size_t block) const {
    return std::min(simd::kFastScanCodes, shape_.vectors - block * simd::kFastScanCodes);
  }

  void code_coarse(size_t block, char* out) {
    const size_t groups = shape_.groups();
    std::vector<float> rotated(shape_.padded());
    std::vector<uint8_t> codes(simd::kFastScanCodes * groups, 0);
    std::array<float, 2 * simd::kFastScanCodes> factors{};
    std::fill_n(factors.begin(), simd::kFastScanCodes, std::numeric_limits<float>::quiet_NaN());
    const size_t begin = block * simd::kFastScanCodes;
    VectorWalk walk(vectors_, first_, begin);
    for (size_t j = 0; j < count_in(block); ++j) {
      FlatCoder::Rotated about;
      if (!coder_.rotate(walk.next(), rotated, about)) {
        // Blocks of 32 share a word with one other block only, which the same task codes.
        uncoded_[(begin + j) / 64] |= uint64_t{1} << ((begin + j) % 64);
        continue;
      }
      const FlatCoder::Coarse coarse =
          FlatCoder::coarse(rotated, about.squared_length, codes.data() + j * groups);
      factors[j] = about.offset;
      factors[simd::kFastScanCodes + j] = coarse.gain;
      errors_[block] = std::max(errors_[block], coarse.error);
    }
    simd::fast_scan_pack(codes.data(), groups, reinterpret_cast<uint8_t*>(out));
    std::memcpy(out + shape_.factors_at(), factors.data(), sizeof(factors));
  }

  void code_fine(size_t block, char* out) {
    std::vector<float> rotated(shape_.padded());
    const size_t begin = block * simd::kFastScanCodes;
    VectorWalk walk(vectors_, first_, begin);
    for (size_t j = 0; j < count_in(block); ++j) {
      char* code = out + j * shape_.padded();
      FlatCoder::Rotated about;
      if (coder_.rotate(walk.next(), rotated, about)) {
        steps_[begin + j] = FlatCoder::fine(rotated, reinterpret_cast<int8_t*>(code));
      } else {
        std::fill_n(code, shape_.padded(), '\0');
      }
    }
  }

  const VectorIndex& vectors_;
  std::vector<uint32_t> first_;
  FlatShape shape_;
  std::vector<uint64_t> signs_;
  std::vector<float> centre_;
  FlatCoder coder_;
  const BuildProgress& progress_;
  std::unique_ptr<base::ThreadPool> pool_;  ///< Beside the calling thread; null for one thread.
  std::vector<float> errors_;
  std::vector<float> steps_;
  std::vector<uint64_t> uncoded_;
};

}  // namespace

uint64_t flat_build_bytes(const VectorIndex& vectors) {
  return FlatWriter::bytes_needed({vectors.vectors(), vectors.dimension()}, vectors.rows());
}

Result<void> write_flat_index(const VectorIndex& vectors, const FlatSettings& settings,
                              const ByteSink& sink, const BuildProgress& progress) {
  const size_t dimension = vectors.dimension();
  if (dimension == 0 || dimension > kVectorDimensionMax) {
    return fail(Code::InvalidArgument, "dimension {} is not one of 1 to {}", dimension,
                kVectorDimensionMax);
  }
  if (settings.metric != Metric::kInnerProduct && settings.metric != Metric::kSquaredL2) {
    return fail(Code::InvalidArgument, "metric {} is not known; give inner product or squared L2",
                static_cast<unsigned>(settings.metric));
  }
  const uint64_t needed = flat_build_bytes(vectors);
  if (settings.memory_bytes_max != 0 && needed > settings.memory_bytes_max) {
    return fail(Code::TooLarge,
                "making the flat index of {} vectors of dimension {} needs {} bytes of memory and "
                "{} are allowed; raise the memory budget",
                vectors.vectors(), dimension, needed, settings.memory_bytes_max);
  }
  return FlatWriter(vectors, first_vectors(vectors), settings, progress).write(sink);
}

}  // namespace sibyl::index
