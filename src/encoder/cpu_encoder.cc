#include "encoder/cpu_encoder.h"

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "encoder/internal/transformer_encoder.h"

namespace sibyl::encoder {

Result<std::shared_ptr<Encoder>> open_cpu_encoder(
    std::shared_ptr<const model::ModelDirectory> model, const std::string& name,
    const CpuEncoderOptions& options) {
  if (model == nullptr || model->modules.empty()) {
    return fail(Code::InvalidArgument, "no model was given to encode with");
  }
  CpuEncoderOptions chosen = options;
  chosen.threads = options.threads == 0 ? base::usable_cores() : options.threads;
  chosen.batch_tokens = std::max<size_t>(1, options.batch_tokens);
  chosen.queue_texts_max = std::max<size_t>(1, options.queue_texts_max);
  EncoderInfo info;
  info.model = name;
  info.version = model->provenance.version;
  info.dimension = model->dimension;
  info.tokens_max = model->tokens_max;
  info.integer_scheme = "none";
  if (std::holds_alternative<model::StaticModule>(model->modules.front())) {
    return open_static_encoder(std::move(model), std::move(info), chosen);
  }
  return open_transformer_encoder(std::move(model), std::move(info), chosen);
}

}  // namespace sibyl::encoder
