#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "server/internal/uploads.h"

namespace sibyl::server {

/// Puts absolute paths in a job's file fields: the id of an upload (also as "upload:ID") becomes
/// the upload's path; a path of this machine is let through for local peers when it is absolute,
/// and refused for others (PermissionDenied), like a `base` that is a directory. Other fields are
/// left to the job room, which checks the whole job.
Result<void> resolve_job_files(base::Json& job, const Uploads& uploads, bool local);

}  // namespace sibyl::server
