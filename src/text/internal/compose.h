#pragma once

#include <string>

namespace sibyl::text {

/// Canonical composition (NFC) of well-formed UTF-8.
void compose_in_place(std::string& text);

}  // namespace sibyl::text
