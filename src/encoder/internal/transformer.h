#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "encoder/internal/float_buffer.h"
#include "encoder/internal/products.h"
#include "model/model_directory.h"

namespace sibyl::encoder {

/// Sequences of one batch, one after the other without padding.
struct TokenBatch {
  std::span<const int32_t> ids;
  std::span<const size_t> lengths;  ///< of each sequence; sums to ids.size(), none is 0
};

/// Buffers of one running batch; grows to the largest seen, bounded by the batch's token limit or
/// one sequence. One batch at a time.
struct TransformerScratch {
  std::unique_ptr<ProductScratch> products;
  FloatBuffer hidden;      ///< [rows x hidden], the state between layers
  FloatBuffer projected;   ///< [rows x 3 hidden], queries, keys and values
  FloatBuffer context;     ///< [rows x hidden], what attention gives
  FloatBuffer block;       ///< [block rows x hidden], one block's products
  FloatBuffer wide;        ///< [block rows x intermediate]
  FloatBuffer scores;      ///< [longest x longest]
  FloatBuffer activation;  ///< for activations that need a second buffer
};

/// A post-norm encoder with absolute positions in float32. Weights are packed once and shared by
/// all threads. Immutable, thread-safe; each thread brings its own scratch.
class Transformer {
 public:
  /// InvalidData when a weight is not finite.
  static Result<std::unique_ptr<const Transformer>> open(const model::TransformerModule& module,
                                                         bool force_own_kernel);

  std::unique_ptr<TransformerScratch> make_scratch() const;
  /// Fills scratch.hidden with one row a token. `between_layers` is called before each layer but
  /// the first; it may run another batch with another scratch.
  void run(const TokenBatch& batch, TransformerScratch& scratch,
           const std::function<void()>& between_layers) const;

  size_t hidden() const { return hidden_; }
  size_t vocabulary() const { return vocabulary_; }
  const Products& products() const { return *products_; }

 private:
  struct Layer {
    std::unique_ptr<const PackedWeights> projections;  ///< query, key and value in one product
    std::vector<float> projection_bias;
    std::unique_ptr<const PackedWeights> attention_output;
    std::vector<float> attention_bias;
    std::vector<float> attention_gain;
    std::vector<float> attention_shift;
    std::unique_ptr<const PackedWeights> intermediate;
    std::vector<float> intermediate_bias;
    std::unique_ptr<const PackedWeights> output;
    std::vector<float> output_bias;
    std::vector<float> output_gain;
    std::vector<float> output_shift;
  };
  class Loader;

  Transformer() = default;
  size_t padded(size_t rows) const;
  void embed(const TokenBatch& batch, TransformerScratch& scratch) const;
  void attend(const TokenBatch& batch, const Layer& layer, TransformerScratch& scratch,
              size_t rows) const;
  void attend_sequence(size_t row, size_t length, TransformerScratch& scratch) const;
  void finish_block(const Layer& layer, size_t begin, size_t rows,
                    TransformerScratch& scratch) const;
  void activate(float* x, const float* bias, size_t rows, TransformerScratch& scratch) const;

  enum class Activation { Gelu, Relu, GeluTanh };

  size_t hidden_ = 0;
  size_t heads_ = 0;
  size_t intermediate_ = 0;
  size_t vocabulary_ = 0;
  size_t position_offset_ = 0;
  float epsilon_ = 0;
  Activation activation_ = Activation::Gelu;
  std::shared_ptr<const model::SafeTensors> tensors_;  ///< keeps `words_` mapped
  const float* words_ = nullptr;                       ///< [vocabulary x hidden]
  std::vector<float> words_copy_;  ///< when the file's table is not aligned float32
  std::vector<float> positions_;   ///< [positions x hidden], the first token type added
  std::vector<float> embedding_gain_;
  std::vector<float> embedding_shift_;
  std::vector<Layer> layers_;
  std::shared_ptr<const Products> products_;
};

}  // namespace sibyl::encoder
