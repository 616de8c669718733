#include "train/internal/pace.h"

#include <algorithm>

#include <ATen/DeviceAccelerator.h>

#include "base/clock.h"
#include "train/internal/memory.h"

namespace sibyl::train {
namespace {

constexpr double kMeasureSeconds = 1.5;
constexpr size_t kTestSteps = 2;
constexpr double kExportSeconds = 2;
/// Share of the available memory that a batch's graph may take.
constexpr double kGraphMemoryShare = 0.5;

double seconds_now() {
  return static_cast<double>(base::system_clock().steady_us()) * 1e-6;
}

size_t batch_tokens(const StageItems& items, const Batch& batch) {
  size_t tokens = 0;
  for (const auto& sequence : batch_sequences(items, batch)) {
    tokens += sequence.size();
  }
  return tokens;
}

std::vector<Batch> epoch_batches(const Setup& setup, size_t stage, size_t epoch) {
  return make_epoch(setup.stages[stage], setup.batch_limits, mix_seed(setup.plan.seed, stage),
                    epoch);
}

uint64_t graph_memory_bytes(const at::Device& device) {
  if (!device.is_cuda()) {
    return available_memory_bytes();
  }
  try {
    return at::getDeviceAllocator(at::kCUDA)->getMemoryInfo(device.index()).first;
  } catch (const std::exception&) {
    return uint64_t{4} << 30;  // An allocator that cannot tell: what every supported GPU has.
  }
}

}  // namespace

Pace measure_pace(Setup& setup, AdamW& optimizer, const StepOptions& options) {
  Pace pace;
  const StageItems& items = setup.stages[0];
  const auto batches = epoch_batches(setup, 0, 0);
  const auto micro = make_micro_batches(batch_sequences(items, batches[0]), options.limits);
  std::vector<int32_t> ids;
  for (const MicroBatch& batch : micro) {
    ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  }
  setup.network->begin_rows(ids);
  double encode = 0;
  double train = 0;
  size_t tokens = 0;
  const double start = seconds_now();
  for (size_t i = 0; seconds_now() - start < kMeasureSeconds; ++i) {
    const MicroBatch& batch = micro[i % micro.size()];
    const double before = seconds_now();
    {
      const c10::NoGradGuard no_grad;
      setup.network->encode(batch, {});
    }
    const double between = seconds_now();
    setup.network->encode(batch, {.training = true, .seed = i}).sum().backward();
    if (i > 0) {  // The first call loads kernels.
      encode += between - before;
      train += seconds_now() - between;
      tokens += std::max<size_t>(batch.ids.size(), 1);
    }
  }
  optimizer.clear_gradients();
  setup.network->end_rows();
  if (tokens > 0) {
    pace.encode_s = encode / static_cast<double>(tokens);
    pace.train_s =
        train / static_cast<double>(tokens) + (options.cached_gradients ? pace.encode_s : 0);
  }
  return pace;
}

Cost planned_cost(const Setup& setup, const Pace& pace) {
  Cost cost;
  for (size_t stage = 0; stage < setup.stages.size(); ++stage) {
    Cost::StageCost entry;
    entry.epochs = setup.plan.test_mode ? 1 : epochs_of(setup.plan, setup.plan.stages[stage]);
    size_t tokens = 0;
    for (size_t epoch = 0; epoch < entry.epochs; ++epoch) {
      const auto batches = epoch_batches(setup, stage, epoch);
      entry.steps += batches.size();
      for (const Batch& batch : batches) {
        tokens += batch_tokens(setup.stages[stage], batch);
      }
    }
    entry.seconds = static_cast<double>(tokens) * pace.train_s;
    if (setup.plan.test_mode) {
      entry.steps = std::min(entry.steps, kTestSteps);
    }
    if (setup.plan.mask_margin >= 0 && (stage > 0 || !setup.plan.static_base)) {
      cost.fixed_seconds += static_cast<double>(setup.stages[stage].question_tokens.tokens() +
                                                setup.stages[stage].document_tokens.tokens()) *
                            pace.encode_s;
    }
    cost.stages.push_back(entry);
  }
  cost.fixed_seconds += kExportSeconds;
  if (setup.validation) {
    cost.validation_seconds = static_cast<double>(setup.validation->tokens()) * pace.encode_s;
  }
  return cost;
}

bool needs_cached_gradients(const Setup& setup) {
  size_t tokens = 0;
  for (size_t stage = 0; stage < setup.stages.size(); ++stage) {
    for (const Batch& batch : epoch_batches(setup, stage, 0)) {
      tokens = std::max(tokens, batch_tokens(setup.stages[stage], batch));
    }
  }
  const double needed =
      static_cast<double>(tokens) * static_cast<double>(setup.network->graph_bytes_per_token());
  const at::Device device = setup.network->table().value.device();
  return needed > kGraphMemoryShare * static_cast<double>(graph_memory_bytes(device));
}

}  // namespace sibyl::train
