#include "train/internal/export_model.h"

#include <map>

#include "base/file_system.h"

namespace sibyl::train {
namespace {

std::vector<float> host_values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  const auto* values = host.data_ptr<float>();
  return {values, values + host.numel()};
}

/// Weights under the names of `model::transformer_tensor`: joined matrices are cut apart again.
std::map<std::string, at::Tensor> separate_weights(Network& network) {
  std::map<std::string, at::Tensor> out;
  for (const Parameter& parameter : network.parameters()) {
    const size_t joined = parameter.name.find(".qkv.");
    if (joined == std::string::npos) {
      out[parameter.name] = parameter.value;
      continue;
    }
    const std::string prefix = parameter.name.substr(0, joined + 1);
    const std::string kind = parameter.name.substr(joined + 5);
    const std::vector<at::Tensor> parts = parameter.value.detach().chunk(3, 0);
    out[fmt::format("{}query.{}", prefix, kind)] = parts[0];
    out[fmt::format("{}key.{}", prefix, kind)] = parts[1];
    out[fmt::format("{}value.{}", prefix, kind)] = parts[2];
  }
  out[network.table().name] = network.table().value;
  return out;
}

Result<model::TransformerToWrite> transformer_to_write(Network& network, const TrainPlan& plan,
                                                       const model::ModelDirectory& base) {
  model::TransformerToWrite out;
  for (const model::Module& module : base.modules) {
    if (const auto* transformer = std::get_if<model::TransformerModule>(&module)) {
      out.shape = *transformer;
    } else if (const auto* pooling = std::get_if<model::PoolingModule>(&module)) {
      out.pooling = pooling->modes;
    }
  }
  out.shape.tensors = nullptr;
  if (plan.index_tokens_max > 0) {
    out.shape.tokens_max =
        std::min(plan.index_tokens_max, out.shape.positions - out.shape.position_offset);
  }
  const auto weights = separate_weights(network);
  for (const model::TransformerTensorName& tensor : model::transformer_file_names(out.shape)) {
    const auto found = weights.find(tensor.name);
    if (found == weights.end()) {
      return fail(Code::Internal, "the network has no weight '{}'", tensor.name);
    }
    out.tensors.push_back({tensor.file_name, tensor.shape, host_values(found->second)});
  }
  return out;
}

}  // namespace

Result<void> export_model(const std::string& folder, Network& network, const TrainPlan& plan,
                          const ExportSource& source, const model::Provenance& provenance) {
  auto& files = base::real_file_system();
  if (files.exists(folder)) {
    auto removed = files.remove_tree(folder);
    if (!removed) {
      return pass_on(removed);
    }
  }
  std::string tokenizer;
  if (files.exists(source.tokenizer_path)) {
    auto read = base::read_file(source.tokenizer_path);
    if (!read) {
      return pass_on(read);
    }
    tokenizer = std::move(*read);
  }
  if (source.base == nullptr) {
    const at::Tensor& table = network.table().value;
    model::StaticToWrite out;
    out.rows = static_cast<size_t>(table.size(0));
    out.dimension = static_cast<size_t>(table.size(1));
    out.table = host_values(table);
    return model::write_model_directory(folder, out, tokenizer, {}, provenance);
  }
  auto transformer = transformer_to_write(network, plan, *source.base);
  if (!transformer) {
    return pass_on(transformer);
  }
  return model::write_model_directory(folder, *transformer, tokenizer, source.base_folder,
                                      provenance);
}

}  // namespace sibyl::train
