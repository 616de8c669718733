#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::base {

/// Where each key of a YAML document stands: "train.epochs" -> line from 1.
using YamlLines = std::map<std::string, size_t>;

/// YAML 1.2 core scalars to JSON; anchors, tags of programs and duplicate keys are refused, depth
/// and size bounded. Errors carry the line. `lines` may be null.
Result<Json> parse_yaml(std::string_view text, YamlLines* lines);

}  // namespace sibyl::base
