#pragma once

#include <string>
#include <string_view>

#include "answer/answer_service.h"
#include "base/result.h"

namespace sibyl::answer {

/// The forms of INTERFACE section 3, both ways, so that server and clients share one definition.
/// Unknown keys of a request are refused by name.
Result<QueryRequest> query_request_from_json(std::string_view body);
std::string query_request_to_json(const QueryRequest& request);
std::string query_reply_to_json(const QueryReply& reply, bool explain);
Result<QueryReply> query_reply_from_json(std::string_view body);

}  // namespace sibyl::answer
