#include "text/internal/compose.h"

#include <cstdlib>
#include <memory>

#include <utf8proc.h>

namespace sibyl::text {

void compose_in_place(std::string& text) {
  struct Free {
    void operator()(utf8proc_uint8_t* bytes) const {
      std::free(bytes);
    }  // allocated by the library
  };
  utf8proc_uint8_t* bytes = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(bytes);
  if (size >= 0) {
    text.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
}

}  // namespace sibyl::text
