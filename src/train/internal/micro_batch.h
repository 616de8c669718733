#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sibyl::train {

/// Sequences encoded together: their tokens one after another, sequences of one length side by side
/// ("runs"), so that attention is one batched product a run and the linear layers see no padding.
struct MicroBatch {
  struct Run {
    size_t first_token = 0;
    size_t first_item = 0;
    size_t count = 0;   ///< sequences
    size_t length = 0;  ///< tokens of each, with padding where `padded`
    bool padded = false;
  };
  std::vector<size_t> items;     ///< which sequence stands at each place
  std::vector<int32_t> lengths;  ///< real tokens by place
  std::vector<int32_t> ids;      ///< all tokens
  std::vector<Run> runs;
};

struct MicroBatchLimits {
  size_t tokens_max = 0;   ///< a longer single sequence gets a micro-batch of its own
  size_t length_step = 1;  ///< lengths are padded up to a multiple of this; 1: no padding at all
  int32_t padding_id = 0;
};

/// Cuts sequences into micro-batches, longest first. Every sequence is in exactly one; empty ones
/// are allowed (static models). The order of equal lengths is that of the input.
std::vector<MicroBatch> make_micro_batches(std::span<const std::span<const int32_t>> sequences,
                                           const MicroBatchLimits& limits);

}  // namespace sibyl::train
