#pragma once

#include <nlohmann/json_fwd.hpp>

namespace sibyl::base {

/// JSON for cold paths, keys in insertion order. Public headers may name it, only .cc files use it.
using Json = nlohmann::ordered_json;

}  // namespace sibyl::base
