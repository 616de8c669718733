#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/query_json.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  if (const auto request = answer::query_request_from_json(body)) {
    const auto again = answer::query_request_from_json(answer::query_request_to_json(*request));
    base::check(again && again->question == request->question && again->top == request->top,
                "a request goes both ways");
  }
  if (const auto reply = answer::query_reply_from_json(body)) {
    base::check(
        answer::query_reply_from_json(answer::query_reply_to_json(*reply, true)).has_value(),
        "a reply goes both ways");
  }
  return 0;
}
