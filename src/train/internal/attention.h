#pragma once

#include "train/internal/micro_batch.h"
#include "train/internal/torch.h"

namespace sibyl::train {

struct AttentionShape {
  int64_t heads = 0;
  int64_t width = 0;   ///< of one head
  double dropout = 0;  ///< of the attention weights; 0 outside training
};

/// Softmax attention of every sequence over itself: from [tokens x 3·heads·width] (queries, keys,
/// values side by side) to [tokens x heads·width]. One node of the graph, whatever the number of
/// runs: cutting a tensor by graph operations would fill a whole gradient for every run.
at::Tensor self_attention(const at::Tensor& query_key_value, const MicroBatch& batch,
                          const AttentionShape& shape);

}  // namespace sibyl::train
