#include "store/internal/typed_columns.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "store/internal/typed_columns_file.h"

namespace sibyl::store {
namespace {

tl::unexpected<Error> wrong(std::string_view what) {
  return fail(Code::DataLoss, "{}", what);
}

bool ascends(std::span<const uint32_t> numbers, uint64_t end) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= end || (i > 0 && numbers[i] <= numbers[i - 1])) {
      return false;
    }
  }
  return true;
}

/// Takes arrays out of the section; `ok` turns false at the first that lies outside.
struct Arrays {
  std::string_view section;
  bool ok = true;

  std::string_view bytes(uint64_t place, uint64_t count, uint64_t size) {
    ok =
        ok && place % 8 == 0 && place <= section.size() && count <= (section.size() - place) / size;
    return ok ? section.substr(place, count * size) : std::string_view();
  }
  template <class T>
  std::span<const T> of(TypedArray at) {
    const std::string_view found = bytes(at.place, at.count, sizeof(T));
    return {reinterpret_cast<const T*>(found.data()), found.size() / sizeof(T)};
  }
};

template <class Code>
bool codes_below(std::string_view codes, uint32_t end) {
  Code largest = 0;
  for (size_t at = 0; at < codes.size(); at += sizeof(Code)) {
    Code code = 0;
    std::memcpy(&code, codes.data() + at, sizeof(Code));
    largest = std::max(largest, code);
  }
  return largest < end;
}

/// The lists' rows, first items and items, which lie in one array.
bool read_lists(Arrays& arrays, TypedArray at, TypedColumn& column, uint32_t rows) {
  if (at.count > rows) {
    return false;
  }
  const auto head = arrays.of<uint32_t>({at.place, 2 * at.count + 1});
  if (!arrays.ok) {
    return false;
  }
  column.list_rows = head.subspan(0, at.count);
  column.list_begins = head.subspan(at.count);
  if (column.list_begins.front() != 0 ||
      !std::is_sorted(column.list_begins.begin(), column.list_begins.end())) {
    return false;
  }
  const auto all = arrays.of<uint32_t>({at.place, head.size() + column.list_begins.back()});
  if (!arrays.ok) {
    return false;
  }
  column.items = all.subspan(head.size());
  return ascends(column.list_rows, rows);
}

bool codes_fit(const TypedColumn& column) {
  const uint32_t end = column.code_end();
  const bool in_range = column.code_bytes == 1   ? codes_below<uint8_t>(column.codes, end)
                        : column.code_bytes == 2 ? codes_below<uint16_t>(column.codes, end)
                                                 : codes_below<uint32_t>(column.codes, end);
  return in_range && std::all_of(column.items.begin(), column.items.end(),
                                 [end](uint32_t code) { return code < end; });
}

bool texts_fit(const TypedColumn& column) {
  return std::all_of(column.texts.begin(), column.texts.end(), [&](const TypedText& text) {
    return text.begin <= column.text_bytes.size() &&
           text.bytes <= column.text_bytes.size() - text.begin;
  });
}

/// Empty when the column can be used, else what is wrong.
std::string_view read_column(Arrays& arrays, const TypedColumnEntry& entry, uint32_t rows,
                             TypedColumn& column) {
  column.path = arrays.bytes(entry.path.place, entry.path.count, 1);
  column.rows = arrays.of<uint32_t>(entry.rows);
  column.integers = arrays.of<int64_t>(entry.integers);
  column.reals = arrays.of<double>(entry.reals);
  column.texts = arrays.of<TypedText>(entry.texts);
  column.dates = arrays.of<int64_t>(entry.dates);
  if (entry.code_bytes != 1 && entry.code_bytes != 2 && entry.code_bytes != 4) {
    return "the codes of a typed column have an impossible size";
  }
  column.code_bytes = entry.code_bytes;
  column.codes = arrays.bytes(entry.codes.place, entry.codes.count, entry.code_bytes);
  const uint64_t values =
      uint64_t{entry.integers.count} + entry.reals.count + entry.texts.count + kFirstValueCode;
  if (!arrays.ok || values > UINT32_MAX || !read_lists(arrays, entry.lists, column, rows)) {
    return "an array of a typed column lies outside of the file";
  }
  if (entry.codes.count != (column.rows.empty() ? rows : column.rows.size()) ||
      (!column.dates.empty() && column.dates.size() != column.texts.size()) ||
      !ascends(column.rows, rows)) {
    return "the arrays of a typed column do not fit its rows";
  }
  if (!codes_fit(column) || !texts_fit(column)) {
    return "a typed column names a value that is not there";
  }
  return {};
}

}  // namespace

std::string encode_path(std::span<const std::string> names) {
  std::string path;
  for (const std::string& name : names) {
    base::put_text(path, name);
  }
  return path;
}

Result<TypedColumns> TypedColumns::open(std::string_view section, std::string_view typed,
                                        uint32_t rows) {
  TypedColumnsHeader header;
  if (section.size() < sizeof(header)) {
    return wrong("its typed columns are cut off");
  }
  std::memcpy(&header, section.data(), sizeof(header));
  Arrays arrays{section};
  const auto entries = arrays.of<TypedColumnEntry>({sizeof(header), header.columns});
  if (!arrays.ok || header.columns > kTypedColumnsMax || header.complete > 1) {
    return wrong("its table of typed columns is cut off");
  }
  TypedColumns opened;
  opened.complete_ = header.complete == 1;
  for (const TypedColumnEntry& entry : entries) {
    TypedColumn column;
    column.text_bytes = typed;
    if (const std::string_view fault = read_column(arrays, entry, rows, column); !fault.empty()) {
      return wrong(fault);
    }
    if (!opened.columns_.empty() && opened.columns_.back().path >= column.path) {
      return wrong("its typed columns do not ascend");
    }
    opened.columns_.push_back(column);
  }
  return opened;
}

const TypedColumn* TypedColumns::find(std::span<const std::string> path) const {
  const std::string wanted = encode_path(path);
  const auto found = std::lower_bound(
      columns_.begin(), columns_.end(), wanted,
      [](const TypedColumn& column, const std::string& name) { return column.path < name; });
  return found != columns_.end() && found->path == wanted ? &*found : nullptr;
}

}  // namespace sibyl::store
