#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/bytes.h"
#include "store/filter.h"
#include "store/internal/iso_date.h"
#include "store/internal/typed_columns.h"
#include "store/internal/typed_columns_file.h"
#include "store/internal/typed_metadata.h"

namespace sibyl::store {
namespace {

/// Distinct values of one kind, numbered in the order in which they came.
template <class Value, class Key = Value>
struct Distinct {
  std::vector<Value> values;
  std::unordered_map<Key, uint32_t> numbers;

  uint32_t number_of(const Key& key, const Value& value) {
    const auto [at, added] = numbers.try_emplace(key, static_cast<uint32_t>(values.size()));
    if (added) {
      values.push_back(value);
    }
    return at->second;
  }
};

/// A text with its place in the typed metadata of all rows.
struct PlacedText {
  std::string_view text;
  uint64_t place = 0;
};

/// A value before the codes are known: a code below kFirstValueCode, or a kind and a number in it.
struct Pending {
  ValueType type = ValueType::Null;
  uint32_t number = 0;  ///< Null: the code itself
};

struct ColumnBuild {
  std::vector<uint32_t> rows;
  std::vector<Pending> values;  ///< one a row
  Distinct<int64_t> integers;
  Distinct<double> reals;
  Distinct<PlacedText, std::string_view> texts;
  std::vector<uint32_t> list_rows;
  std::vector<uint32_t> list_begins{0};
  std::vector<Pending> items;
};

/// Appends arrays, each at a multiple of 8.
template <class T>
TypedArray put_array(std::string& out, std::span<const T> values) {
  out.append((8 - out.size() % 8) % 8, '\0');
  const TypedArray at{out.size(), values.size()};
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return at;
}

/// `ranks[i]`: where value i stands when all are sorted; sorts the values too.
template <class Value, class Less>
std::vector<uint32_t> sort_values(std::vector<Value>& values, const Less& less) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return less(values[a], values[b]); });
  std::vector<uint32_t> ranks(values.size());
  std::vector<Value> sorted;
  sorted.reserve(values.size());
  for (uint32_t place = 0; place < order.size(); ++place) {
    ranks[order[place]] = place;
    sorted.push_back(values[order[place]]);
  }
  values = std::move(sorted);
  return ranks;
}

/// Turns one column's values into codes and writes its arrays.
class ColumnWriter {
 public:
  ColumnWriter(ColumnBuild& build, uint32_t rows, std::string& out)
      : build_(build), rows_(rows), out_(out) {}

  TypedColumnEntry write(std::string_view path) {
    sort_all();
    entry_.path = put_array(out_, std::span<const char>(path));
    entry_.integers = put_array(out_, std::span<const int64_t>(build_.integers.values));
    entry_.reals = put_array(out_, std::span<const double>(build_.reals.values));
    put_texts();
    put_codes();
    put_lists();
    return entry_;
  }

 private:
  void sort_all() {
    integer_ranks_ = sort_values(build_.integers.values, std::less<>());
    real_ranks_ = sort_values(build_.reals.values, std::less<>());
    text_ranks_ = sort_values(build_.texts.values, [](const PlacedText& a, const PlacedText& b) {
      return a.text < b.text;
    });
    first_real_ = kFirstValueCode + static_cast<uint32_t>(integer_ranks_.size());
    first_text_ = first_real_ + static_cast<uint32_t>(real_ranks_.size());
  }

  uint32_t code_of(Pending value) const {
    switch (value.type) {
      case ValueType::Integer:
        return kFirstValueCode + integer_ranks_[value.number];
      case ValueType::Number:
        return first_real_ + real_ranks_[value.number];
      case ValueType::Text:
        return first_text_ + text_ranks_[value.number];
      default:
        return value.number;
    }
  }

  void put_texts() {
    std::vector<TypedText> texts;
    std::vector<int64_t> dates;
    bool any = false;
    for (const PlacedText& text : build_.texts.values) {
      texts.push_back({text.place, text.text.size()});
      dates.push_back(parse_iso_date(text.text).value_or(kNoDate));
      any = any || dates.back() != kNoDate;
    }
    entry_.texts = put_array(out_, std::span<const TypedText>(texts));
    entry_.dates = put_array(out_, std::span<const int64_t>(dates).subspan(any ? 0 : dates.size()));
  }

  void put_codes() {
    const uint32_t largest = first_text_ + static_cast<uint32_t>(text_ranks_.size()) - 1;
    if (largest <= UINT8_MAX) {
      put_codes_as<uint8_t>();
    } else if (largest <= UINT16_MAX) {
      put_codes_as<uint16_t>();
    } else {
      put_codes_as<uint32_t>();
    }
  }

  /// With the numbers of the rows where that takes less room.
  template <class Code>
  void put_codes_as() {
    entry_.code_bytes = sizeof(Code);
    const bool sparse =
        build_.rows.size() * (sizeof(uint32_t) + sizeof(Code)) < rows_ * sizeof(Code);
    std::vector<Code> codes(sparse ? build_.rows.size() : rows_, kMissingCode);
    for (size_t i = 0; i < build_.rows.size(); ++i) {
      codes[sparse ? i : build_.rows[i]] = static_cast<Code>(code_of(build_.values[i]));
    }
    entry_.rows = put_array(
        out_, std::span<const uint32_t>(build_.rows).subspan(sparse ? 0 : build_.rows.size()));
    entry_.codes = put_array(out_, std::span<const Code>(codes));
  }

  void put_lists() {
    std::vector<uint32_t> all = build_.list_rows;
    all.insert(all.end(), build_.list_begins.begin(), build_.list_begins.end());
    for (const Pending& item : build_.items) {
      all.push_back(code_of(item));
    }
    entry_.lists = {put_array(out_, std::span<const uint32_t>(all)).place, build_.list_rows.size()};
  }

  ColumnBuild& build_;
  uint32_t rows_;
  std::string& out_;
  TypedColumnEntry entry_;
  std::vector<uint32_t> integer_ranks_;
  std::vector<uint32_t> real_ranks_;
  std::vector<uint32_t> text_ranks_;
  uint32_t first_real_ = 0;
  uint32_t first_text_ = 0;
};

class ColumnsBuilder {
 public:
  /// `place`: where `typed` begins in the typed metadata of all rows.
  void add_row(uint32_t row, std::string_view typed, uint64_t place) {
    row_ = row;
    row_bytes_ = typed;
    row_place_ = place;
    path_.clear();
    add_members(typed, 1);
  }

  std::string finish(uint32_t rows) {
    std::vector<const std::string*> paths;
    for (const auto& [path, number] : numbers_) {
      paths.push_back(&path);
    }
    std::sort(paths.begin(), paths.end(),
              [](const std::string* a, const std::string* b) { return *a < *b; });
    const TypedColumnsHeader header{static_cast<uint32_t>(paths.size()), complete_ ? 1U : 0U};
    std::string out(reinterpret_cast<const char*>(&header), sizeof(header));
    out.append(paths.size() * sizeof(TypedColumnEntry), '\0');
    for (size_t i = 0; i < paths.size(); ++i) {
      ColumnBuild build = std::move(columns_[numbers_.at(*paths[i])]);
      const TypedColumnEntry entry = ColumnWriter(build, rows, out).write(*paths[i]);
      out.replace(sizeof(header) + i * sizeof(entry), sizeof(entry),
                  reinterpret_cast<const char*>(&entry), sizeof(entry));
    }
    return out;
  }

 private:
  /// Values deeper than a filter's field can name are left out.
  void add_members(std::string_view members, size_t depth) {
    TypedReader reader(members);
    std::string_view key;
    TypedValue value;
    while (reader.next_key(key) && reader.next(value)) {
      if (value.type == ValueType::Null) {
        continue;
      }
      const size_t parent = path_.size();
      base::put_text(path_, key);
      if (ColumnBuild* column = column_at_path(); column != nullptr) {
        add_value(*column, value);
      }
      if (value.type == ValueType::Object && depth < kFilterDepthMax) {
        add_members(value.text, depth + 1);
      }
      path_.resize(parent);
    }
  }

  ColumnBuild* column_at_path() {
    const auto found = numbers_.find(path_);
    if (found != numbers_.end()) {
      return &columns_[found->second];
    }
    if (columns_.size() == kTypedColumnsMax) {
      complete_ = false;
      return nullptr;
    }
    numbers_.emplace(path_, columns_.size());
    return &columns_.emplace_back();
  }

  void add_value(ColumnBuild& column, const TypedValue& value) {
    if (!column.rows.empty() && column.rows.back() == row_) {
      return;  // an object that names a key twice: the first counts
    }
    column.rows.push_back(row_);
    if (value.type != ValueType::List) {
      column.values.push_back(scalar(column, value));
      return;
    }
    column.values.push_back({ValueType::Null, kListCode});
    column.list_rows.push_back(row_);
    TypedReader reader(value.text);
    TypedValue item;
    while (reader.next(item)) {
      column.items.push_back(scalar(column, item));
    }
    column.list_begins.push_back(static_cast<uint32_t>(column.items.size()));
  }

  Pending scalar(ColumnBuild& column, const TypedValue& value) const {
    switch (value.type) {
      case ValueType::False:
        return {ValueType::Null, kFalseCode};
      case ValueType::True:
        return {ValueType::Null, kTrueCode};
      case ValueType::Integer:
        return {value.type, column.integers.number_of(value.integer, value.integer)};
      case ValueType::Number: {
        const double number = value.number == 0 ? 0 : value.number;  // -0 is 0
        return {value.type, column.reals.number_of(number, number)};
      }
      case ValueType::Text: {
        const auto place = static_cast<uint64_t>(value.text.data() - row_bytes_.data());
        return {value.type, column.texts.number_of(value.text, {value.text, row_place_ + place})};
      }
      case ValueType::Null:
      case ValueType::List:
      case ValueType::Object:
        break;
    }
    return {ValueType::Null, kOtherCode};
  }

  std::vector<ColumnBuild> columns_;
  std::unordered_map<std::string, size_t> numbers_;  ///< of the columns, by path
  bool complete_ = true;
  uint32_t row_ = 0;
  std::string_view row_bytes_;
  uint64_t row_place_ = 0;
  std::string path_;
};

}  // namespace

std::string build_typed_columns(uint32_t rows,
                                const std::function<std::string_view(uint32_t row)>& typed) {
  ColumnsBuilder builder;
  uint64_t place = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    const std::string_view bytes = typed(row);
    builder.add_row(row, bytes, place);
    place += bytes.size();
  }
  return builder.finish(rows);
}

}  // namespace sibyl::store
