#include <algorithm>
#include <cctype>

#include "job/internal/training_data.h"

namespace sibyl::job::internal {

uint64_t validation_count(uint64_t count) {
  const uint64_t wanted = std::clamp<uint64_t>(count / 10, 50, 1100);
  return std::min(wanted, std::max<uint64_t>(count / 5, count >= 2 ? 1 : 0));
}

std::string normalized_question(std::string_view question) {
  std::string out;
  for (const char c : question) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte) != 0) {
      if (!out.empty() && out.back() != ' ') {
        out.push_back(' ');
      }
    } else {
      out.push_back(byte < 0x80 ? static_cast<char>(std::tolower(byte)) : c);
    }
  }
  while (!out.empty() && std::string_view(" ?.!").find(out.back()) != std::string_view::npos) {
    out.pop_back();
  }
  return out;
}

}  // namespace sibyl::job::internal
