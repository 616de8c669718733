#pragma once

#include <string>
#include <utility>

#include "server/internal/guard.h"
#include "server/internal/services.h"

namespace sibyl::server {

/// What an application gives to gRPC: its models, and who may ask. Thread-safe.
class ModelService {
 public:
  ModelService(Services& services, const Guard& guard) : services_(services), guard_(guard) {}

  answer::EncoderSource& models() { return services_.models(); }
  bool ready() const { return !services_.draining; }
  /// `authorization` is what the header of that name holds; may be empty.
  Result<void> check(const std::string& authorization, bool open) const {
    Request request;
    request.headers["authorization"] = authorization;
    return guard_.check(request, open);
  }

 private:
  Services& services_;
  const Guard& guard_;
};

}  // namespace sibyl::server
