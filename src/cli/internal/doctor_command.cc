#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "cli/internal/commands.h"
#include "cli/internal/machine.h"
#include "cli/internal/owner.h"
#include "simd/distance.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr uint64_t kDiskLowBytes = uint64_t{1} << 30;

std::string gigabytes(uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1 << 30));
}

}  // namespace

Result<int> doctor(const Arguments& arguments, const Terminal& terminal) {
  const Machine machine = inspect_machine(arguments.data);
  Json out = {{"cpu", machine.cpu},
              {"cpu_features", machine.cpu_features},
              {"kernels", std::string(simd::kernel_name())},
              {"cores", machine.cores},
              {"memory_bytes", machine.memory_bytes},
              {"memory_free_bytes", machine.memory_free_bytes},
              {"gpu", machine.gpu},
              {"gpu_seen", machine.gpu_seen},
              {"disk_free_bytes", machine.disk_free_bytes},
              {"data", arguments.data}};
  std::string text = fmt::format(
      "cpu       {} ({} cores usable)\nfeatures  {}\nkernels   {}\nmemory    {} of {} free\n"
      "gpu       {}\ndisk      {} free at {}{}\n",
      machine.cpu, machine.cores, machine.cpu_features, simd::kernel_name(),
      gigabytes(machine.memory_free_bytes), gigabytes(machine.memory_bytes), machine.gpu,
      gigabytes(machine.disk_free_bytes), arguments.data,
      machine.disk_free_bytes < kDiskLowBytes ? " (low)" : "");
  Json damage = Json::array();
  int status = 0;
  auto owner = Owner::open(arguments.data, false);
  auto state = owner ? (*owner)->call("GET", "/v1/status?verify=true")
                     : Result<Json>(tl::unexpected<Error>(owner.error()));
  if (state) {
    if (const Json& found = base::value_at(*state, "damage"); found.is_array()) {
      damage = found;
    }
    out["owner"] = (*owner)->in_process() ? "none" : "a server";
    out["status"] = *state;
    const size_t collections = base::value_at(*state, "collections").size();
    text +=
        fmt::format("owner     {}\n", (*owner)->in_process() ? "no server runs on it" : "a server");
    text += fmt::format("data      {} collections, {}\n", collections,
                        damage.empty() ? "every checksum is right" : "damaged");
  } else {
    damage.push_back({{"error", state.error().message}});
    status = exit_status(state.error().code);
  }
  for (const Json& item : damage) {
    text += fmt::format("problem   {}{}\n",
                        item.contains("collection") ? base::text_at(item, "collection") + ": " : "",
                        base::text_at(item, "error"));
  }
  if (!damage.empty() && status == 0) {
    status = exit_status(Code::DataLoss);
  }
  out["damage"] = std::move(damage);
  if (terminal.json()) {
    terminal.print_json(out);
  } else {
    terminal.print(text);
  }
  return status;
}

}  // namespace sibyl::cli
