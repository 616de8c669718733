#include <charconv>

#include "train/internal/device.h"

namespace sibyl::train {
namespace {

constexpr std::string_view kNeeds =
    "this LibTorch needs driver 580 or newer and a GPU of compute capability 7.5 (T4) or newer";

std::string unusable_reason(const GpuFacts& facts) {
  const std::string driver =
      facts.driver_version.empty() ? "" : fmt::format(" (driver {})", facts.driver_version);
  if (!facts.library_present) {
    return fmt::format(
        "an NVIDIA device is there{}, but libtorch_cuda.so is not beside "
        "libtorch_cpu.so; install the GPU libraries (tools/setup torch)",
        driver);
  }
  if (!facts.library_error.empty()) {
    return fmt::format("an NVIDIA device is there{}, but libtorch_cuda.so could not be opened: {}",
                       driver, facts.library_error);
  }
  return fmt::format("an NVIDIA device is there{}, but LibTorch finds none that it can use; {}",
                     driver, kNeeds);
}

Result<size_t> parse_index(const std::string& wanted) {
  size_t index = 0;
  if (wanted == "cuda") {
    return index;
  }
  const std::string_view digits = std::string_view(wanted).substr(5);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index > 127) {
    return fail_field(Code::InvalidConfig, "device",
                      "device is '{}'; it must be auto, cpu, cuda or cuda:N", wanted);
  }
  return index;
}

Result<DeviceChoice> choose_gpu(const std::string& wanted, const GpuFacts& facts) {
  auto index = parse_index(wanted);
  if (!index) {
    return pass_on(index);
  }
  if (facts.usable == 0) {
    return fail_field(Code::Unavailable, "device", "device is '{}', but {}", wanted,
                      facts.driver_visible ? unusable_reason(facts)
                                           : "there is no NVIDIA device on this machine");
  }
  if (*index >= facts.usable) {
    return fail_field(Code::Unavailable, "device", "device is '{}', but there {} only {} GPU{}",
                      wanted, facts.usable == 1 ? "is" : "are", facts.usable,
                      facts.usable == 1 ? "" : "s");
  }
  return DeviceChoice{.cuda = true, .index = *index, .why = "the job asks for it", .warning = {}};
}

}  // namespace

Result<DeviceChoice> choose_device(const std::string& wanted, bool allow_cpu_fallback,
                                   const GpuFacts& facts) {
  DeviceChoice cpu;
  if (wanted == "cpu") {
    cpu.why = "the job asks for it";
    return cpu;
  }
  if (wanted == "cuda" || wanted.starts_with("cuda:")) {
    return choose_gpu(wanted, facts);
  }
  if (wanted != "auto") {
    return fail_field(Code::InvalidConfig, "device",
                      "device is '{}'; it must be auto, cpu, cuda or cuda:N", wanted);
  }
  if (facts.usable > 0) {
    return DeviceChoice{.cuda = true, .index = 0, .why = "a GPU is visible", .warning = {}};
  }
  if (!facts.driver_visible) {
    cpu.why = "no NVIDIA device on this machine";
    return cpu;
  }
  const std::string reason = unusable_reason(facts);
  if (!allow_cpu_fallback) {
    return fail_field(Code::Unavailable, "device",
                      "{}; or set allow_cpu_fallback: true to train on the processor", reason);
  }
  cpu.why = "the GPU cannot be used and allow_cpu_fallback is true";
  cpu.warning = reason;
  return cpu;
}

}  // namespace sibyl::train
