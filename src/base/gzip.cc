#include "base/gzip.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/check.h"
#include "base/internal/inflate_stream.h"

namespace sibyl::base {

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1F' && bytes[1] == '\x8B';
}

Result<std::string> gunzip(std::string_view bytes, uint64_t bytes_max) {
  if (!is_gzip(bytes)) {
    return fail(Code::InvalidData, "not gzip: the first bytes are not 1f 8b");
  }
  internal::InflateStream stream;
  std::string out;
  const auto buffer = std::make_unique<std::array<char, 64 << 10>>();
  while (!stream.ended() || !bytes.empty()) {
    const auto got = stream.read(bytes, buffer->data(), buffer->size());
    if (!got) {
      return tl::unexpected<Error>(got.error());
    }
    if (*got == 0 && bytes.empty()) {
      break;
    }
    if (out.size() + *got > bytes_max) {
      return fail(Code::TooLarge, "the gzip data inflates to more than {} bytes", bytes_max);
    }
    out.append(buffer->data(), *got);
  }
  if (!stream.ended()) {
    return fail(Code::InvalidData, "the gzip data is cut short");
  }
  return out;
}

std::string gzip(std::string_view bytes, int level) {
  z_stream stream{};
  check(::deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib starts (level 0 to 9)");
  std::string out;
  std::array<char, 64 << 10> buffer;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !bytes.empty()) {
      const size_t part = std::min<size_t>(bytes.size(), size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(part);
      bytes.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    state = ::deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    check(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, "deflate goes on");
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  ::deflateEnd(&stream);
  return out;
}

}  // namespace sibyl::base
