#pragma once

#include <string_view>

#include "server/http.h"

namespace sibyl::server {

/// The protocols that have an error form of their own, and what all other addresses speak.
enum class Protocol { Problem, OpenAi, OpenInference, Seldon };

/// What the addresses under this path speak, whether there are any or not.
Protocol protocol_of(std::string_view path);

/// An error in the form of the path's protocol. A status that no error code has (405, 415, 431) is
/// given beside the error.
Response error_response(std::string_view path, int status, const Error& error);
/// With the status of the error's code.
Response error_response(std::string_view path, const Error& error);

}  // namespace sibyl::server
