#pragma once

#include <cstddef>
#include <string_view>

#include <zlib.h>

#include "base/result.h"

namespace sibyl::base::internal {

/// Inflates gzip of one or more members piece by piece. Zero bytes behind the last member are
/// padding, anything else is an error. Not thread-safe.
class InflateStream {
 public:
  InflateStream();
  ~InflateStream();
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  /// Takes bytes from the front of `input` and writes at most `room`; the count written. 0 with
  /// `input` empty means that more input is needed or the data has ended.
  Result<size_t> read(std::string_view& input, char* out, size_t room);
  /// A member has ended and no other was begun.
  bool ended() const { return ended_; }

 private:
  Result<void> start_member(std::string_view& input);

  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace sibyl::base::internal
