#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model_directory.h"
#include "train/internal/micro_batch.h"
#include "train/internal/torch.h"

namespace sibyl::train {

struct Parameter {
  std::string name;  ///< of our own, as `model::transformer_tensor` takes them
  at::Tensor value;
  bool decays = true;  ///< weight decay: not for biases and norms
};

/// The token embedding table. Only the rows of the present batch take part in a step: they are
/// gathered into `leaf`, which collects their gradient, and the optimizer writes them back.
struct RowTable {
  std::string name;
  at::Tensor value;  ///< [vocabulary x width], outside the graph
  at::Tensor rows;   ///< indexes of `leaf`'s rows, ascending; undefined between steps
  at::Tensor leaf;   ///< [rows x width] with its gradient
};

struct EncodeMode {
  bool training = false;  ///< with graph rows and dropout
  uint64_t seed = 0;      ///< of dropout: the same seed gives the same masks
};

/// Texts' tokens to unit vectors, with gradients. Externally synchronised.
class Network {
 public:
  virtual ~Network() = default;
  /// [sequences x dimension], unit length, in the order of the micro-batch's places. In training
  /// `begin_rows` must have named every token before.
  virtual at::Tensor encode(const MicroBatch& batch, const EncodeMode& mode) = 0;
  /// Everything that is trained, apart from the row table.
  virtual std::vector<Parameter>& parameters() = 0;
  virtual RowTable& table() = 0;
  virtual size_t dimension() const = 0;
  /// Bytes kept for the backward pass by a token, roughly: decides whether a batch fits at once.
  virtual size_t graph_bytes_per_token() const = 0;

  /// Gathers the rows of these tokens (any order, repeats allowed).
  void begin_rows(std::span<const int32_t> ids);
  /// Drops the gathered rows after the optimizer has written them back.
  void end_rows();

 protected:
  /// [tokens x width]: from the gathered rows in training, else from the whole table.
  at::Tensor embed_tokens(const MicroBatch& batch, bool training);
  /// Index of each token's row: local to the gathered rows in training.
  at::Tensor token_rows(const MicroBatch& batch, bool training);

 private:
  std::vector<int32_t> local_row_;  ///< by token id, valid for ids of the present rows
};

struct NetworkOptions {
  at::Device device = at::kCPU;
  double dropout = 0;
};

/// From a model directory: a transformer, pooling, optional normalisation. FailedPrecondition names
/// a module that training does not support.
Result<std::unique_ptr<Network>> make_transformer_network(const model::ModelDirectory& base,
                                                          const NetworkOptions& options);

/// A token table from nothing: normal values times the weight of the token (1 where empty).
Result<std::unique_ptr<Network>> make_static_network(size_t vocabulary, size_t dimension,
                                                     std::span<const float> token_weights,
                                                     uint64_t seed, const NetworkOptions& options);

}  // namespace sibyl::train
