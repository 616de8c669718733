#pragma once

#include "base/result.h"
#include "cli/internal/arguments.h"

namespace sibyl::cli {

/// Reads `--config FILE` (YAML: data, http, grpc, api_keys, tls_cert, tls_key, allow_hosts,
/// web_root); what the command line gave wins. InvalidConfig names line and key.
Result<void> apply_config_file(Arguments& arguments);

}  // namespace sibyl::cli
