// The bytes of a request, its target, its route: what any peer may send before anything is checked.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "server/internal/page_source.h"
#include "server/internal/request_reader.h"
#include "server/internal/request_target.h"
#include "server/internal/routes.h"

namespace {

using sibyl::server::RequestReader;

void read_in_pieces(std::string_view bytes, size_t step) {
  const auto reader = RequestReader::create({4096, 65536});
  std::string pending;
  while (!bytes.empty()) {
    pending += bytes.substr(0, step);
    bytes.remove_prefix(std::min(bytes.size(), step));
    size_t used = 1;
    while (used > 0 && reader->state() != RequestReader::State::Done &&
           reader->state() != RequestReader::State::Refused) {
      used = reader->feed(pending);
      pending.erase(0, used);
    }
  }
  if (reader->state() == RequestReader::State::Done) {
    const auto request = reader->take();
    sibyl::server::match_route(request.method, request.path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_in_pieces(bytes, SIZE_MAX);
  read_in_pieces(bytes, 3);
  if (const auto target = sibyl::server::parse_request_target(bytes)) {
    sibyl::server::match_route("GET", target->path);
  }
  sibyl::server::accepts_gzip(bytes);
  sibyl::server::matches_etag(bytes, "\"tag\"");
  const auto decoded = sibyl::net::decode_uri_part(sibyl::net::encode_uri_part(bytes));
  if (!decoded || *decoded != bytes) {
    std::abort();  // what was encoded must come back
  }
  return 0;
}
