#pragma once

#include <string>

namespace sibyl::server {

/// The interface as OpenAPI 3.1, made from the route table; made once.
const std::string& openapi_document();

}  // namespace sibyl::server
