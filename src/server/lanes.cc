#include "server/application.h"
#include "server/internal/routes.h"

namespace sibyl::server {
namespace {

/// Large bodies of vectors are long work; a few texts are somebody's question.
constexpr size_t kQuickEmbeddingBytesMax = 16384;

}  // namespace

Lane Application::lane(const Request& request) const {
  const auto match = match_route(request.method, request.path);
  if (!match || match->route == nullptr) {
    return Lane::Quick;
  }
  const Operation operation = match->route->operation;
  const bool large =
      operation == Operation::Embeddings && request.body.size() > kQuickEmbeddingBytesMax;
  const bool verifies = operation == Operation::Status && request.query.contains("verify");
  return large || verifies ? Lane::Long : match->route->lane;
}

}  // namespace sibyl::server
