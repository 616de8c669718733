#include "encoder/internal/transformer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "simd/neural.h"

namespace sibyl::encoder {

std::unique_ptr<TransformerScratch> Transformer::make_scratch() const {
  auto scratch = std::make_unique<TransformerScratch>();
  scratch->products = products_->make_scratch();
  return scratch;
}

size_t Transformer::padded(size_t rows) const {
  const size_t step = products_->row_step();
  return (rows + step - 1) / step * step;
}

void Transformer::embed(const TokenBatch& batch, TransformerScratch& scratch) const {
  float* out = scratch.hidden.data();
  size_t row = 0;
  for (const size_t length : batch.lengths) {
    for (size_t i = 0; i < length; ++i, ++row) {
      const auto id = static_cast<size_t>(batch.ids[row]);
      base::check(id < vocabulary_, "token ids are below the vocabulary size");
      const float* word = words_ + id * hidden_;
      const float* position = positions_.data() + (position_offset_ + i) * hidden_;
      simd::residual_layer_norm(word, nullptr, position, embedding_gain_.data(),
                                embedding_shift_.data(), epsilon_, 1, hidden_, out + row * hidden_);
    }
  }
  // Rows that fill up the last block are computed with; they must be numbers.
  const size_t filled = padded(row) - row;
  std::fill_n(out + row * hidden_, filled * hidden_, 0.0F);
  std::fill_n(scratch.context.data() + row * hidden_, filled * hidden_, 0.0F);
}

void Transformer::attend_sequence(size_t row, size_t length, TransformerScratch& scratch) const {
  const size_t width = 3 * hidden_;
  const size_t head_width = hidden_ / heads_;
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_width));
  for (size_t head = 0; head < heads_; ++head) {
    const float* query = scratch.projected.data() + row * width + head * head_width;
    simd::attention_head(query, query + hidden_, query + 2 * hidden_, length, head_width, width,
                         scale, scratch.scores.data(),
                         scratch.context.data() + row * hidden_ + head * head_width, hidden_);
  }
}

void Transformer::attend(const TokenBatch& batch, const Layer& layer, TransformerScratch& scratch,
                         size_t rows) const {
  const size_t width = 3 * hidden_;
  size_t next = 0;      // sequence to attend to
  size_t next_row = 0;  // where it begins
  for (size_t begin = 0; begin < rows; begin += products_->block_rows()) {
    const size_t count = std::min(products_->block_rows(), rows - begin);
    float* out = scratch.projected.data() + begin * width;
    products_->run(*layer.projections, scratch.hidden.data() + begin * hidden_, count, out,
                   *scratch.products);
    simd::add_bias(out, layer.projection_bias.data(), count, width);
    // Sequences that are whole by now, while their rows are in the cache.
    while (next < batch.lengths.size() && next_row + batch.lengths[next] <= begin + count) {
      attend_sequence(next_row, batch.lengths[next], scratch);
      next_row += batch.lengths[next];
      ++next;
    }
  }
}

void Transformer::activate(float* x, const float* bias, size_t rows,
                           TransformerScratch& scratch) const {
  const size_t count = rows * intermediate_;
  if (activation_ == Activation::Gelu) {
    simd::bias_gelu(x, bias, rows, intermediate_);
    return;
  }
  simd::add_bias(x, bias, rows, intermediate_);
  if (activation_ == Activation::Relu) {
    std::transform(x, x + count, x, [](float value) { return std::max(value, 0.0F); });
    return;
  }
  // The approximation of GELU in Hendrycks and Gimpel 2016, section 2.
  constexpr float kRootOfTwoOverPi = 0.7978845608028654F;
  float* bent = scratch.activation.data();
  for (size_t i = 0; i < count; ++i) {
    bent[i] = kRootOfTwoOverPi * (x[i] + 0.044715F * x[i] * x[i] * x[i]);
  }
  simd::tanh(bent, count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = 0.5F * x[i] * (1.0F + bent[i]);
  }
}

/// Attention's output product to the end of the layer for some rows, while they are in the cache.
void Transformer::finish_block(const Layer& layer, size_t begin, size_t rows,
                               TransformerScratch& scratch) const {
  float* state = scratch.hidden.data() + begin * hidden_;
  float* block = scratch.block.data();
  products_->run(*layer.attention_output, scratch.context.data() + begin * hidden_, rows, block,
                 *scratch.products);
  simd::residual_layer_norm(block, layer.attention_bias.data(), state, layer.attention_gain.data(),
                            layer.attention_shift.data(), epsilon_, rows, hidden_, state);
  products_->run(*layer.intermediate, state, rows, scratch.wide.data(), *scratch.products);
  activate(scratch.wide.data(), layer.intermediate_bias.data(), rows, scratch);
  products_->run(*layer.output, scratch.wide.data(), rows, block, *scratch.products);
  simd::residual_layer_norm(block, layer.output_bias.data(), state, layer.output_gain.data(),
                            layer.output_shift.data(), epsilon_, rows, hidden_, state);
}

void Transformer::run(const TokenBatch& batch, TransformerScratch& scratch,
                      const std::function<void()>& between_layers) const {
  const size_t rows = padded(batch.ids.size());
  const size_t block_rows = std::min(products_->block_rows(), rows);
  const size_t longest =
      batch.lengths.empty() ? 0 : *std::max_element(batch.lengths.begin(), batch.lengths.end());
  scratch.hidden.reserve(rows * hidden_);
  scratch.projected.reserve(rows * 3 * hidden_);
  scratch.context.reserve(rows * hidden_);
  scratch.block.reserve(block_rows * hidden_);
  scratch.wide.reserve(block_rows * intermediate_);
  scratch.scores.reserve(longest * longest);
  if (activation_ == Activation::GeluTanh) {
    scratch.activation.reserve(block_rows * intermediate_);
  }
  embed(batch, scratch);
  for (size_t index = 0; index < layers_.size(); ++index) {
    if (index > 0 && between_layers) {
      between_layers();
    }
    attend(batch, layers_[index], scratch, rows);
    for (size_t begin = 0; begin < rows; begin += block_rows) {
      finish_block(layers_[index], begin, std::min(block_rows, rows - begin), scratch);
    }
  }
}

}  // namespace sibyl::encoder
