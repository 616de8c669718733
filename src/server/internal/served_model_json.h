#pragma once

#include <string>

#include "base/json_writer.h"
#include "server/http.h"
#include "server/internal/remote_models.h"
#include "server/internal/served_models.h"

namespace sibyl::server {

/// A model of `--encoder`, as GET /v1/models lists it; `local`: with its address.
void write_remote_model(base::JsonWriter& json, const RemoteModels::Listed& model,
                        const std::string& default_name, bool local);
/// GET /v1/models of a model server, in the form that the registry's models have.
Response list_served_models(const ServedModels& served);
/// GET /v1/models/{model} of a model server; NotFound names those there are.
Result<Response> get_served_model(ServedModels& served, const std::string& reference);

}  // namespace sibyl::server
