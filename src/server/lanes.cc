#include "server/internal/lanes.h"

#include "server/application.h"
#include "server/internal/routes.h"

namespace sibyl::server {
namespace {

bool makes_vectors(Operation operation) {
  return operation == Operation::Embeddings || operation == Operation::Infer ||
         operation == Operation::SeldonPredict;
}

}  // namespace

Lane Application::lane(const Request& request) const {
  const auto match = match_route(request.method, request.path);
  if (!match || match->route == nullptr) {
    return Lane::Quick;
  }
  const Operation operation = match->route->operation;
  const bool large = makes_vectors(operation) && request.body.size() > kQuickTextBytesMax;
  const bool verifies = operation == Operation::Status && request.query.contains("verify");
  return large || verifies ? Lane::Long : match->route->lane;
}

}  // namespace sibyl::server
