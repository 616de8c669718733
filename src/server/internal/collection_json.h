#pragma once

#include <string>

#include "answer/answer_service.h"
#include "base/json_writer.h"

namespace sibyl::server {

/// A collection as GET /v1/collections/{c} shows it.
void write_collection(base::JsonWriter& json, const answer::CollectionInfo& info);

}  // namespace sibyl::server
