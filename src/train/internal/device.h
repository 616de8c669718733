#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace sibyl::train {

/// What the machine and the libraries say about GPUs. Gathered by `look_for_gpus`, or by a test.
struct GpuFacts {
  bool driver_visible = false;   ///< /dev/nvidia* or the driver's version file is there
  std::string driver_version;    ///< "580.65.06", empty when not readable
  bool library_present = false;  ///< libtorch_cuda.so lies beside libtorch_cpu.so
  std::string library_error;     ///< why it could not be opened; empty when it was
  size_t usable = 0;             ///< devices that LibTorch can use
};

struct DeviceChoice {
  bool cuda = false;
  size_t index = 0;
  std::string why;      ///< end of the device line
  std::string warning;  ///< when a GPU is left unused by allow_cpu_fallback
};

/// Decides by `auto`, `cpu`, `cuda` or `cuda:N`. Unavailable, naming what is needed, when a GPU was
/// asked for and there is none, or when there is one that cannot be used and falling back was not
/// allowed: nobody shall pay for a GPU machine that trains on its processor.
Result<DeviceChoice> choose_device(const std::string& wanted, bool allow_cpu_fallback,
                                   const GpuFacts& facts);

/// Opens libtorch_cuda.so when it is there; must run before LibTorch is used for anything, because
/// its CUDA hooks are asked for once. Why it could not be opened is kept for `look_for_gpus`.
void open_gpu_library();

GpuFacts look_for_gpus();

/// Runs a small product on the device: a GPU whose architecture the library does not support fails
/// here, with what is needed, and not in the middle of a job.
Result<void> try_device(const DeviceChoice& choice);

/// `device: cpu (8 threads, AVX-512): no NVIDIA device on this machine`.
std::string device_line(const DeviceChoice& choice, size_t threads);

/// `LibTorch 2.15.0, AVX-512 kernels`.
std::string torch_text();

}  // namespace sibyl::train
