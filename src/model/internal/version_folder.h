#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/registry.h"

namespace sibyl::model {

/// In a model's folder: the number that the next version gets.
inline constexpr const char* kNextFile = "next_version";
/// Folders that begin so are on their way in or out.
inline constexpr const char* kIncoming = ".incoming-";

/// What a listing shows, without reading the weights.
Result<ModelEntry> describe_version(const std::string& path, const std::string& name,
                                    uint32_t version);
/// One more than any version that the model of this folder ever had; `newest` is the highest one
/// known to be there, 0 for none.
Result<uint32_t> next_version(const std::string& folder, uint32_t newest);

}  // namespace sibyl::model
