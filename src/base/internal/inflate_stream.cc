#include "base/internal/inflate_stream.h"

#include <algorithm>

#include "base/check.h"

namespace sibyl::base::internal {

InflateStream::InflateStream() {
  check(::inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib starts");
}

InflateStream::~InflateStream() {
  ::inflateEnd(&stream_);
}

Result<void> InflateStream::start_member(std::string_view& input) {
  input.remove_prefix(std::min(input.find_first_not_of('\0'), input.size()));
  if (input.empty()) {
    return {};
  }
  if (input.front() != '\x1F') {
    return fail(Code::InvalidData, "bytes that are not gzip follow the gzip data");
  }
  ::inflateReset(&stream_);
  ended_ = false;
  return {};
}

Result<size_t> InflateStream::read(std::string_view& input, char* out, size_t room) {
  if (ended_) {
    if (auto started = start_member(input); !started) {
      return pass_on(started);
    }
    if (ended_) {
      return size_t{0};
    }
  }
  const size_t part = std::min<size_t>(input.size(), size_t{1} << 30);
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream_.avail_in = static_cast<uInt>(part);
  stream_.next_out = reinterpret_cast<Bytef*>(out);
  stream_.avail_out = static_cast<uInt>(std::min<size_t>(room, size_t{1} << 30));
  const uInt room_before = stream_.avail_out;
  const int state = ::inflate(&stream_, Z_NO_FLUSH);
  input.remove_prefix(part - stream_.avail_in);
  if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
    return fail(Code::InvalidData, "the gzip data is damaged: {}",
                stream_.msg != nullptr ? stream_.msg : "zlib gives no reason");
  }
  ended_ = state == Z_STREAM_END;
  return static_cast<size_t>(room_before - stream_.avail_out);
}

}  // namespace sibyl::base::internal
