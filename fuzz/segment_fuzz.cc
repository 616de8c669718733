#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "changed_file.h"
#include "index/memory_view.h"
#include "store/internal/filter_select.h"
#include "store/internal/segment.h"
#include "store/internal/typed_metadata.h"

namespace {

using namespace sibyl;

/// Rows with integers, numbers, dates, texts, lists, objects and without a field.
class RightRows final : public store::RowSource {
 public:
  RightRows() {
    for (uint32_t row = 0; row < kRows; ++row) {
      ids_.push_back("id-" + std::to_string((row * 7) % kRows));
      const std::string number = std::to_string(row);
      const std::array<std::string, 5> kinds = {
          R"({"a":{"b":"x)" + number + R"("},"c":1,"f":"2020-01-0)" + std::to_string(1 + row % 9) +
              R"("})",
          R"({"c":["x",1,2.5,null],"d":)" + number + R"(.5,"e":"xyz"})",
          R"({"a":[1,2],"d":-3,"f":[true,"x","2021-01-01T10:00:00Z"]})",
          R"({"e":"x","a":4,"c":false})", "{}"};
      typed_.push_back(*store::encode_typed_metadata(kinds[row % kinds.size()]));
    }
  }
  uint32_t rows() const override { return kRows; }
  uint64_t sequence(uint32_t row) const override { return row + 1; }
  int64_t row_key(uint32_t row) const override { return row; }
  uint64_t content_hash(uint32_t row) const override { return row * 3; }
  std::string_view column(uint32_t row, uint32_t column) const override {
    return column == store::kIdColumn      ? std::string_view(ids_[row])
           : column == store::kTypedColumn ? std::string_view(typed_[row])
                                           : std::string_view("text");
  }

 private:
  static constexpr uint32_t kRows = 25;
  std::vector<std::string> ids_;
  std::vector<std::string> typed_;
};

std::string make_file() {
  std::string bytes;
  const auto written =
      store::write_rows(RightRows(), 1, [&bytes](std::string_view part) -> Result<void> {
        bytes += part;
        return {};
      });
  return written ? bytes : std::string();
}

void try_open(std::string bytes) {
  static const auto filter = *store::Filter::parse(
      "a.b contains 1 or c = [1, 'x'] or d < 2 or e starts_with 'x' or f >= '2020-01-01' or "
      "f in [1, 'x', '2020-01-01', true] or not a exists or a != 3");
  const auto opened = store::Segment::open(index::memory_view(std::move(bytes)), "fuzz", 1);
  if (!opened) {
    return;
  }
  const store::Segment& segment = **opened;
  static_cast<void>(store::select_rows(store::tree_of(*filter), segment).count());
  for (uint32_t row = 0; row < segment.rows(); ++row) {
    const std::string_view id = segment.id(segment.row_by_id(row));
    segment.find(id, base::hash64(id), [](uint32_t) {});
    static_cast<void>(
        store::tree_of(*filter).matches_typed(segment.column(row, store::kTypedColumn)));
    static_cast<void>(segment.column(row, store::kFirstTextColumn).size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string right = make_file();
  try_open(std::string(reinterpret_cast<const char*>(data), size));
  try_open(fuzz::sealed_file(data, size));
  try_open(fuzz::change_file(right, data, size));
  return 0;
}
