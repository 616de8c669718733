#pragma once

#include "server/http.h"

namespace sibyl::server {

/// problem+json with a status that has no error code of its own (405, 415, 431).
Response problem_with_status(int status, const Error& error);
/// OpenAI's form: {"error": {"message", "type", "param", "code"}}.
Response openai_error(int status, const Error& error);
/// Adds Retry-After where another try may help.
void note_retry(Response& response);
/// No body: 204, 304.
Response empty_response(int status);

}  // namespace sibyl::server
