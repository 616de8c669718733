#include "server/internal/shutdown.h"

#include "base/log.h"

namespace sibyl::server {
namespace {

/// A smaller tail is read from its log in no time, and every seal makes a segment.
constexpr uint64_t kTailRowsToSeal = 1000;

}  // namespace

void shut_down(Services& services) {
  if (services.draining.exchange(true)) {
    return;
  }
  if (services.database == nullptr) {
    return;  // a model server holds nothing
  }
  services.encoders->stop_following();
  services.end_jobs();
  for (const std::string& name : services.database->names()) {
    const auto collection = services.database->find(name);
    if (!collection || (*collection)->statistics().tail_rows < kTailRowsToSeal) {
      continue;
    }
    if (const auto sealed = (*collection)->seal(); !sealed) {
      // Nothing is lost: the log holds every row.
      base::log_warning("server", "collection '{}' was not sealed: {}", name,
                        sealed.error().message);
    }
  }
}

}  // namespace sibyl::server
