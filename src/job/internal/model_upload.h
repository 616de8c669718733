#pragma once

#include <stop_token>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "job/owner_client.h"
#include "model/provenance.h"

namespace sibyl::job::internal {

/// Brings the model of a folder into the owner's registry under `name`: by its path where the owner
/// runs on this machine, else by uploading the files that its sibyl.json lists, those that an
/// interrupted call has uploaded already left out. The owner's reply.
Result<base::Json> import_model(OwnerClient& owner, const std::string& name,
                                const std::string& folder, const model::Provenance& provenance,
                                const std::stop_token& stop);

}  // namespace sibyl::job::internal
