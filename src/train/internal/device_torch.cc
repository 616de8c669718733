#include <filesystem>
#include <fstream>

#include <ATen/DeviceAccelerator.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/version.h>

#include "train/internal/device.h"
#include "train/internal/torch.h"

namespace sibyl::train {
namespace {

struct LibraryState {
  bool present = false;
  std::string error;
};

LibraryState& library_state() {
  static LibraryState state;
  return state;
}

/// Folder of libtorch_cpu.so, found through a symbol of it.
std::string torch_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "580.65.06" out of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …".
std::string driver_version() {
  const std::string line = first_line("/proc/driver/nvidia/version");
  const size_t digit = line.find("Module");
  const size_t from = digit == std::string::npos ? digit : line.find_first_of("0123456789", digit);
  if (from == std::string::npos) {
    return {};
  }
  return line.substr(from, line.find_first_not_of("0123456789.", from) - from);
}

bool driver_visible() {
  std::error_code ignored;
  if (std::filesystem::exists("/proc/driver/nvidia/version", ignored) ||
      std::filesystem::exists("/dev/nvidiactl", ignored)) {
    return true;
  }
  for (int i = 0; i < 16; ++i) {
    if (std::filesystem::exists(fmt::format("/dev/nvidia{}", i), ignored)) {
      return true;
    }
  }
  return false;
}

/// Name of the first GPU as the driver tells it; the driver lists them by bus, so it is only
/// certain when all are of one kind.
std::string gpu_name() {
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    std::ifstream file(entry.path() / "information");
    std::string line;
    while (std::getline(file, line)) {
      if (line.starts_with("Model:")) {
        const size_t from = line.find_first_not_of(" \t", 6);
        return from == std::string::npos ? std::string() : line.substr(from);
      }
    }
  }
  return "NVIDIA GPU";
}

std::string gpu_memory(size_t index) {
  try {
    const auto [free, total] =
        at::getDeviceAllocator(at::kCUDA)->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
    return fmt::format(", {} GiB", total >> 30U);
  } catch (const std::exception&) {
    return {};  // An allocator that cannot tell: the line goes without it.
  }
}

std::string kernel_name() {
  const std::string kernels = at::get_cpu_capability();
  return kernels == "AVX512" ? "AVX-512" : kernels;
}

}  // namespace

void open_gpu_library() {
  LibraryState& state = library_state();
  const std::string path = torch_folder() + "/libtorch_cuda.so";
  std::error_code ignored;
  state.present = std::filesystem::exists(path, ignored);
  if (state.present && dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* error = dlerror();
    state.error = error == nullptr ? "unknown error" : error;
  }
}

GpuFacts look_for_gpus() {
  GpuFacts facts;
  facts.driver_visible = driver_visible();
  facts.driver_version = driver_version();
  facts.library_present = library_state().present;
  facts.library_error = library_state().error;
  if (facts.library_present && facts.library_error.empty() && at::hasCUDA()) {
    try {
      const int count = at::detail::getCUDAHooks().getNumGPUs();
      facts.usable = count > 0 ? static_cast<size_t>(count) : 0;
    } catch (const std::exception& error) {
      facts.library_error = error.what();
    }
  }
  return facts;
}

Result<void> try_device(const DeviceChoice& choice) {
  if (!choice.cuda) {
    return {};
  }
  try {
    const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(choice.index));
    const at::Tensor ones = at::ones({64, 64}, at::TensorOptions().device(device));
    if (at::mm(ones, ones).sum().item<float>() != 64.0F * 64.0F * 64.0F) {
      return fail(Code::Unavailable, "cuda:{} gives a wrong product", choice.index);
    }
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return fail_field(Code::Unavailable, "device",
                      "cuda:{} cannot be used: {}; this LibTorch needs driver 580 or newer and "
                      "compute capability 7.5 (T4) or newer",
                      choice.index, text.substr(0, text.find('\n')));
  }
  return {};
}

std::string torch_text() {
  return fmt::format("LibTorch {}, {} kernels", TORCH_VERSION, kernel_name());
}

std::string device_line(const DeviceChoice& choice, size_t threads) {
  if (choice.cuda) {
    return fmt::format("device: cuda:{} ({}{}; LibTorch {}): {}", choice.index, gpu_name(),
                       gpu_memory(choice.index), TORCH_VERSION, choice.why);
  }
  return fmt::format("device: cpu ({} thread{}, {}; LibTorch {}): {}", threads,
                     threads == 1 ? "" : "s", kernel_name(), TORCH_VERSION, choice.why);
}

}  // namespace sibyl::train
