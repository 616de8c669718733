#pragma once

#include <string>

#include "answer/answer_service.h"
#include "base/json_writer.h"

namespace sibyl::server {

/// A collection as GET /v1/collections/{c} shows it; where its documents came from, which are paths
/// of this machine, to local peers only.
void write_collection(base::JsonWriter& json, const answer::CollectionInfo& info, bool local);

}  // namespace sibyl::server
