// Messages of Seldon Core: JSON, forms, and the same over gRPC.
#include <cstdint>
#include <string>
#include <string_view>

#include "server/internal/form_body.h"
#include "server/internal/seldon_message.h"
#include "server/internal/seldon_service.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sibyl::server::parse_seldon_request(bytes);
  sibyl::server::parse_form("application/x-www-form-urlencoded", bytes);
  sibyl::server::parse_form("multipart/form-data; boundary=x", bytes);
  const size_t line = bytes.find('\n');
  if (line != std::string_view::npos) {
    sibyl::server::parse_form(bytes.substr(0, line), bytes.substr(line + 1));
  }
  seldon::protos::SeldonMessage message;
  if (message.ParseFromArray(data, static_cast<int>(size))) {
    sibyl::server::read_seldon_message(message);
  }
  return 0;
}
