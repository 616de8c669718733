#include "train/internal/checkpoint.h"

#include <cstring>

#include "base/file_system.h"
#include "model/safetensors.h"

namespace sibyl::train {
namespace {

constexpr std::string_view kFormat = "1";

model::NamedTensor to_named(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  model::NamedTensor out;
  out.name = name;
  out.shape.assign(host.sizes().begin(), host.sizes().end());
  const auto* values = host.data_ptr<float>();
  out.values.assign(values, values + host.numel());
  return out;
}

/// Copies a stored tensor into one of the same shape.
Result<void> copy_into(const model::SafeTensors& file, const std::string& name, at::Tensor target) {
  const model::TensorView* view = file.find(name);
  const std::vector<uint64_t> shape(target.sizes().begin(), target.sizes().end());
  if (view == nullptr || view->shape != shape || view->type != model::TensorType::F32) {
    return fail(Code::DataLoss, "the tensor '{}' is missing or has another shape", name);
  }
  const at::Tensor host = at::empty(target.sizes());
  std::memcpy(host.data_ptr<float>(), view->bytes.data(), view->bytes.size());
  const c10::NoGradGuard no_grad;
  target.copy_(host);
  return {};
}

std::vector<std::pair<std::string, at::Tensor>> weights_of(Network& network) {
  std::vector<std::pair<std::string, at::Tensor>> out;
  for (const Parameter& parameter : network.parameters()) {
    out.emplace_back(parameter.name, parameter.value);
  }
  out.emplace_back(network.table().name, network.table().value);
  return out;
}

/// "moment.0" … in the optimizer's order.
std::vector<std::pair<std::string, at::Tensor>> moments_of(const AdamW& optimizer) {
  std::vector<std::pair<std::string, at::Tensor>> out;
  for (const at::Tensor& tensor : optimizer.moments()) {
    out.emplace_back(fmt::format("moment.{}", out.size()), tensor);
  }
  return out;
}

Result<void> write_tensors(const std::string& path,
                           const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                           const std::map<std::string, std::string>& metadata) {
  std::vector<model::NamedTensor> named;
  named.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    named.push_back(to_named(name, tensor));
  }
  return model::write_safetensors(path, named, metadata);
}

Result<void> read_tensors(const model::SafeTensors& file,
                          const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  for (const auto& [name, tensor] : tensors) {
    auto copied = copy_into(file, name, tensor);
    if (!copied) {
      return pass_on(copied);
    }
  }
  return {};
}

tl::unexpected<Error> damaged(const std::string& path, const Error& error) {
  return fail(Code::DataLoss, "{} is damaged ({}); remove the folder checkpoints/ to start anew",
              path, error.message);
}

}  // namespace

std::string Checkpoints::path(std::string_view name) const {
  return base::join_path(folder_, fmt::format("{}.safetensors", name));
}

Result<void> Checkpoints::save_state(Network& network, const AdamW& optimizer,
                                     const Progress& progress) {
  auto tensors = weights_of(network);
  for (auto& moment : moments_of(optimizer)) {
    tensors.push_back(std::move(moment));
  }
  return write_tensors(path("state"), tensors,
                       {{"format", std::string(kFormat)},
                        {"fingerprint", fingerprint_},
                        {"progress", progress_to_json(progress)}});
}

Result<bool> Checkpoints::load_state(Network& network, AdamW& optimizer, Progress& progress) {
  if (!base::real_file_system().exists(path("state"))) {
    return false;
  }
  auto file = model::SafeTensors::open(path("state"));
  if (!file) {
    return damaged(path("state"), file.error());
  }
  const auto& metadata = (*file)->metadata();
  const auto value = [&](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  if (value("format") != kFormat || value("fingerprint") != fingerprint_) {
    return false;
  }
  auto loaded = progress_from_json(value("progress"));
  if (!loaded) {
    return damaged(path("state"), loaded.error());
  }
  auto tensors = weights_of(network);
  for (auto& moment : moments_of(optimizer)) {
    tensors.push_back(std::move(moment));
  }
  auto read = read_tensors(**file, tensors);
  if (!read) {
    return damaged(path("state"), read.error());
  }
  progress = std::move(*loaded);
  optimizer.set_steps(progress.optimizer_steps);
  return true;
}

Result<void> Checkpoints::save_best(Network& network) {
  return write_tensors(path("best"), weights_of(network), {{"fingerprint", fingerprint_}});
}

Result<void> Checkpoints::load_best(Network& network) {
  auto file = model::SafeTensors::open(path("best"));
  if (!file) {
    return damaged(path("best"), file.error());
  }
  auto read = read_tensors(**file, weights_of(network));
  if (!read) {
    return damaged(path("best"), read.error());
  }
  return {};
}

Result<void> Checkpoints::save_tensor(const std::string& name, const at::Tensor& tensor) {
  return write_tensors(path(name), {{"values", tensor}}, {{"fingerprint", fingerprint_}});
}

Result<at::Tensor> Checkpoints::load_tensor(const std::string& name) {
  if (!base::real_file_system().exists(path(name))) {
    return at::Tensor();
  }
  auto file = model::SafeTensors::open(path(name));
  if (!file) {
    return damaged(path(name), file.error());
  }
  const auto& metadata = (*file)->metadata();
  const auto owner = metadata.find("fingerprint");
  const model::TensorView* view = (*file)->find("values");
  if (owner == metadata.end() || owner->second != fingerprint_ || view == nullptr) {
    return at::Tensor();
  }
  const std::vector<int64_t> shape(view->shape.begin(), view->shape.end());
  at::Tensor out = at::empty(shape);
  auto copied = copy_into(**file, "values", out);
  if (!copied) {
    return damaged(path(name), copied.error());
  }
  return out;
}

Result<void> Checkpoints::remove_all() {
  auto& files = base::real_file_system();
  if (!files.exists(folder_)) {
    return {};
  }
  return files.remove_tree(folder_);
}

}  // namespace sibyl::train
