#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sibyl::simd {

/// Levels of kernels that this CPU runs, best first, as kernel_name() gives them; the first one
/// stands with " + VNNI" where the CPU has that instruction too.
std::vector<std::string> kernel_levels();
/// Uses the kernels of one of these levels from now on, as if the CPU had nothing better: for
/// comparing them. False when there is no such level. Not while kernels run.
bool choose_kernels(std::string_view level);

}  // namespace sibyl::simd
