#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/filter.h"
#include "store/internal/filter_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A filter, a zero byte, and the row that it is asked about, as JSON and in typed form.
  const size_t cut = bytes.find('\0');
  const auto filter = store::Filter::parse(bytes.substr(0, cut));
  if (filter) {
    const std::string_view row =
        cut == std::string_view::npos ? std::string_view() : bytes.substr(cut + 1);
    static_cast<void>((*filter)->matches(row));
    static_cast<void>(store::tree_of(**filter).matches_typed(row));
  }
  return 0;
}
