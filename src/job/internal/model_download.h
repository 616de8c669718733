#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/file_system.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "job/owner_client.h"

namespace sibyl::job::internal {

/// Brings a model of the owner's registry over the network into a folder of this machine: the files
/// that its sibyl.json lists, each checked. `model` is the owner's description of it.
Result<std::shared_ptr<base::TemporaryDirectory>> download_model(OwnerClient& owner,
                                                                 const base::Json& model,
                                                                 const std::stop_token& stop);

}  // namespace sibyl::job::internal
