#include "encoder/internal/reply_verdict.h"

#include <charconv>
#include <string>

#include "encoder/internal/remote_protocol.h"

namespace sibyl::encoder {
namespace {

constexpr int64_t kRetryAfterMax_s = 3600;

/// Seconds of `Retry-After`; a date, which servers that are merely busy do not send, counts as
/// none.
int64_t retry_after_us(const net::HttpReply& reply) {
  const auto found = reply.headers.find("retry-after");
  if (found == reply.headers.end()) {
    return 0;
  }
  int64_t seconds = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool right = error == std::errc() && end == text.data() + text.size() && seconds >= 0;
  return right ? std::min(seconds, kRetryAfterMax_s) * 1'000'000 : 0;
}

std::string status_words(const net::HttpReply& reply) {
  const std::string words = error_words(reply.body);
  return words.empty() ? fmt::format("it answered {}", reply.status)
                       : fmt::format("it answered {}: {}", reply.status, words);
}

}  // namespace

Verdict judge(const Result<net::HttpReply>& reply) {
  using Kind = Verdict::Kind;
  if (!reply) {
    const Error& error = reply.error();
    // A time limit that is over was the caller's patience; asking again would double the load.
    const bool again = error.code == Code::Unavailable;
    const bool counts = again || error.code == Code::DeadlineExceeded;
    return {again ? Kind::Again : Kind::Over, counts, 0, error};
  }
  const int status = reply->status;
  const auto unavailable = [&](std::string_view advice) {
    return Error{Code::Unavailable, status_words(*reply) + std::string(advice), {}};
  };
  if (status >= 200 && status < 300) {
    return {};
  }
  if (status == 429) {
    return {Kind::Again, false, retry_after_us(*reply), unavailable("")};
  }
  if (status == 502 || status == 503 || status == 504) {
    return {Kind::Again, true, retry_after_us(*reply), unavailable("")};
  }
  if (status == 413) {
    return {Kind::TooLarge, false, 0, {Code::TooLarge, status_words(*reply), {}}};
  }
  if (status == 401 || status == 403) {
    return {Kind::Over, true, 0,
            unavailable("; it wants a key, which SIBYL_ENCODER_API_KEY gives")};
  }
  if (status >= 300 && status < 400) {
    return {Kind::Over, true, 0,
            unavailable("; redirects are not followed, give the last address")};
  }
  // A wrong request: the server is well, unless the address is that of something else.
  return {Kind::Over, status >= 500 || status == 404, 0, unavailable("")};
}

}  // namespace sibyl::encoder
