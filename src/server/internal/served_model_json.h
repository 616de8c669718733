#pragma once

#include <string>

#include "server/http.h"
#include "server/internal/served_models.h"

namespace sibyl::server {

/// GET /v1/models of a model server, in the form that the registry's models have.
Response list_served_models(const ServedModels& served);
/// GET /v1/models/{model} of a model server; NotFound names those there are.
Result<Response> get_served_model(ServedModels& served, const std::string& reference);

}  // namespace sibyl::server
