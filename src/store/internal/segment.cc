#include "store/internal/segment.h"

#include <algorithm>

namespace sibyl::store {

Result<std::shared_ptr<const Segment>> Segment::open(std::shared_ptr<const base::FileView> file,
                                                     const std::string& path, size_t text_fields,
                                                     bool later) {
  std::vector<uint32_t> unchecked;
  for (uint32_t i = 0; i < kFirstTextColumn + text_fields && later; ++i) {
    if (i != kTypedColumn) {  // filters read its structure
      unchecked.push_back(kRowsColumns + 2 * i + 1);
    }
  }
  Result<index::CheckedFile> opened = index::CheckedFile::open(
      std::move(file), path, kRowsMagic, kRowsVersion, unchecked, base::ReadPattern::Singly);
  if (!opened) {
    return pass_on(opened);
  }
  std::shared_ptr<Segment> segment(new Segment(std::move(*opened)));
  if (Result<void> loaded = segment->load(text_fields); !loaded) {
    return pass_on(loaded);
  }
  return segment;
}

Result<void> Segment::load(size_t text_fields) {
  std::span<const RowsMeta> meta;
  if (!file_.array(kRowsMeta, 1, meta)) {
    return index::damaged(file_.path(), "its description has a wrong size");
  }
  meta_ = meta.front();
  if (meta_.text_fields != text_fields || meta_.rows == 0 || meta_.rows >= UINT32_MAX ||
      meta_.filter_words == 0 || meta_.filter_words % kFilterBlockWords != 0 ||
      !file_.array(kRowsSequences, meta_.rows, sequences_) ||
      !file_.array(kRowsKeys, meta_.rows, keys_) ||
      !file_.array(kRowsHashes, meta_.rows, hashes_) ||
      !file_.array(kRowsIdOrder, meta_.rows, order_) ||
      !file_.array(kRowsIdFilter, meta_.filter_words, filter_)) {
    return index::damaged(file_.path(), "a section's size does not fit the number of rows");
  }
  for (uint32_t i = 0; i < kFirstTextColumn + text_fields; ++i) {
    Column column;
    column.bytes = file_.section(kRowsColumns + 2 * i + 1);
    if (!file_.array(kRowsColumns + 2 * i, meta_.rows + 1, column.offsets) ||
        column.offsets.front() != 0 || column.offsets.back() != column.bytes.size() ||
        !std::is_sorted(column.offsets.begin(), column.offsets.end())) {
      return index::damaged(file_.path(), fmt::format("the places of column {} do not ascend", i));
    }
    columns_.push_back(column);
  }
  for (uint32_t row = 0; row < meta_.rows; ++row) {
    if (order_[row] >= meta_.rows || (row > 0 && sequences_[row] <= sequences_[row - 1])) {
      return index::damaged(file_.path(), "its order of rows is none");
    }
  }
  return load_typed_columns();
}

Result<void> Segment::load_typed_columns() {
  const std::string_view section = file_.section(kRowsTypedColumns);
  if (section.empty()) {
    return {};
  }
  Result<TypedColumns> opened = TypedColumns::open(section, columns_[kTypedColumn].bytes, rows());
  if (!opened) {
    return index::damaged(file_.path(), opened.error().message);
  }
  typed_columns_ = std::move(*opened);
  return {};
}

uint32_t Segment::place_of(std::string_view wanted, bool past) const {
  const auto place = past ? std::partition_point(order_.begin(), order_.end(),
                                                 [&](uint32_t row) { return id(row) <= wanted; })
                          : std::partition_point(order_.begin(), order_.end(),
                                                 [&](uint32_t row) { return id(row) < wanted; });
  return static_cast<uint32_t>(place - order_.begin());
}

}  // namespace sibyl::store
