#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "encoder/internal/float_buffer.h"

namespace sibyl::encoder {

/// Inner length and number of outputs of a linear layer.
struct ProductShape {
  size_t in = 0;
  size_t out = 0;
  bool operator==(const ProductShape&) const = default;
};

/// Weights of one linear layer in the form its product reads; made by `Products::pack`. Immutable.
class PackedWeights {
 public:
  virtual ~PackedWeights() = default;
  virtual ProductShape shape() const = 0;
};

/// What one thread needs while products run; not shared.
class ProductScratch {
 public:
  virtual ~ProductScratch() = default;
};

/// y = x W^T for linear layers of a few shapes, in float32, so that a row's bits depend on that row
/// alone. oneDNN's products do not promise that: on some CPUs the sum is cut differently for
/// different numbers of rows. So rows are computed in blocks of a few fixed sizes that a self-test
/// proved equal on this CPU, row by row and bit by bit; where none passes, our own kernel runs,
/// which has the property by construction. docs/decisions/030 has the measurements. Immutable,
/// thread-safe; each thread brings its own scratch.
class Products {
 public:
  /// Call it, and `pack`, in a thread that called `use_one_thread`: oneDNN cuts its work for the
  /// threads that it sees.
  static std::shared_ptr<const Products> open(const std::vector<ProductShape>& shapes,
                                              bool force_own_kernel = false);
  virtual ~Products() = default;

  /// `weights` is [out x in], row-major; copied.
  virtual std::unique_ptr<const PackedWeights> pack(const float* weights,
                                                    ProductShape shape) const = 0;
  virtual std::unique_ptr<ProductScratch> make_scratch() const = 0;
  /// c[rows x out] = a[rows x in] * W^T. `rows` is a multiple of `row_step()`; rows that only fill
  /// up must hold finite values.
  virtual void run(const PackedWeights& weights, const float* a, size_t rows, float* c,
                   ProductScratch& scratch) const = 0;

  /// Row counts are rounded up to a multiple of this.
  virtual size_t row_step() const = 0;
  /// Rows that should go through a chain of layers together to stay in the cache.
  virtual size_t block_rows() const = 0;
  /// Kernel and row classes, for logs and benchmarks.
  virtual std::string description() const = 0;
};

/// Limits the OpenMP runtime under oneDNN to one thread for the calling thread.
void use_one_thread();

}  // namespace sibyl::encoder
