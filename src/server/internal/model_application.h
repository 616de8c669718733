#pragma once

#include <memory>

#include "server/application.h"

namespace sibyl::server {

/// Role::Models: loaded models behind their protocols, without a data directory.
Result<std::unique_ptr<Application>> open_model_application(const ApplicationOptions& options);

}  // namespace sibyl::server
