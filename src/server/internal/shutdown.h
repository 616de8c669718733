#pragma once

#include "server/internal/services.h"

namespace sibyl::server {

/// Refuses new work from now on, passes SIGTERM on to the running step and waits for it, and seals
/// tails that would take long to read again. May be called again.
void shut_down(Services& services);

}  // namespace sibyl::server
