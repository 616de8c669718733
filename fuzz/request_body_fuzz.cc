// Bodies that the server reads by itself: embeddings, model imports, ids of uploads.
#include <cstdint>
#include <string_view>

#include "server/internal/address.h"
#include "server/internal/embedding_request.h"
#include "server/internal/job_stream.h"
#include "server/internal/model_import.h"
#include "server/internal/uploads.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sibyl::server::parse_embedding_request(bytes);
  sibyl::server::parse_model_import(bytes, false);
  sibyl::server::parse_model_import(bytes, true);
  sibyl::server::is_upload_id(sibyl::server::upload_ending(bytes));
  sibyl::server::event_offset_of(bytes);
  sibyl::server::is_loopback_host(sibyl::server::host_of_header(bytes));
  sibyl::server::parse_host_port(bytes);
  return 0;
}
