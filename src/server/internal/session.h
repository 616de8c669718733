#pragma once

#include <memory>
#include <set>

#include "server/http.h"
#include "server/internal/serving.h"
#include "server/internal/transport.h"

namespace sibyl::server {

/// A running connection, for the listener that ends it. Used on its socket's thread only.
class SessionControl {
 public:
  virtual ~SessionControl() = default;
  /// Closes the connection unless a request is running.
  virtual void close_if_idle() = 0;
  virtual void close_now() = 0;
};
/// The connections of one thread; used on that thread only.
using SessionSet = std::set<SessionControl*>;

/// Serves HTTP/1.1 (RFC 9110, 9112) over a connection, on its socket's thread, until it ends;
/// `serving` has counted the connection and is told when it is over.
void start_session(std::unique_ptr<Transport> transport, Peer peer, Serving& serving,
                   SessionSet& sessions);

}  // namespace sibyl::server
