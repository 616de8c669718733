#pragma once

#include <string_view>

namespace sibyl::server {

/// JSON object of the schemas that routes name, for components.schemas.
std::string_view openapi_schemas();

}  // namespace sibyl::server
