// The scans of typed columns against the evaluator that reads row by row.

#include "store/internal/filter_select.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"
#include "index/memory_view.h"
#include "store/internal/filter_codes.h"

namespace sibyl::store {
namespace {

/// Rows of metadata alone.
class MetadataSource final : public RowSource {
 public:
  explicit MetadataSource(std::vector<std::string> metadata) : metadata_(std::move(metadata)) {
    for (const std::string& row : metadata_) {
      typed_.push_back(*encode_typed_metadata(row));
      ids_.push_back("d" + std::to_string(ids_.size()));
    }
  }
  uint32_t rows() const override { return static_cast<uint32_t>(metadata_.size()); }
  uint64_t sequence(uint32_t row) const override { return row + 1; }
  int64_t row_key(uint32_t row) const override { return row + 1; }
  uint64_t content_hash(uint32_t) const override { return 0; }
  std::string_view column(uint32_t row, uint32_t column) const override {
    return column == kIdColumn         ? ids_[row]
           : column == kTypedColumn    ? typed_[row]
           : column == kMetadataColumn ? std::string_view(metadata_[row])
                                       : std::string_view();
  }

 private:
  std::vector<std::string> metadata_;
  std::vector<std::string> typed_;
  std::vector<std::string> ids_;
};

std::string file_of(const std::vector<std::string>& metadata) {
  std::string bytes;
  EXPECT_TRUE(write_rows(MetadataSource(metadata), 0, [&](std::string_view part) -> Result<void> {
    bytes += part;
    return {};
  }));
  return bytes;
}

std::shared_ptr<const Segment> open_file(std::string bytes) {
  auto opened = Segment::open(index::memory_view(std::move(bytes)), "rows", 0);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return *opened;
}

void expect_same_rows(const Segment& segment, const std::string& text) {
  const auto filter = Filter::parse(text);
  ASSERT_TRUE(filter) << text << ": " << filter.error().message;
  const index::RowSet rows = select_rows(tree_of(**filter), segment);
  ASSERT_EQ(rows.size(), segment.rows());
  size_t expected = 0;
  for (uint32_t row = 0; row < segment.rows(); ++row) {
    const std::string_view metadata = segment.column(row, kMetadataColumn);
    const bool matches = (*filter)->matches(metadata);
    expected += matches ? 1 : 0;
    ASSERT_EQ(rows.contains(row), matches) << text << "\n" << metadata;
  }
  EXPECT_EQ(rows.count(), expected);  // no bit past the last row
}

const char* const kTexts[] = {"",
                              "a",
                              "ab",
                              "open",
                              "closed",
                              "größe",
                              "2020-05-01",
                              "2020-05-01T00:00:00Z",
                              "2020-05-01T02:00:00+02:00",
                              "2020-5-1",
                              "2021-12-31",
                              "2020-05-01 10:30",
                              "1969-12-31",
                              "9",
                              "true",
                              "open\nline",
                              "\xF0\x9F\x98\x80"};

base::Json random_scalar(base::Random& random) {
  switch (random.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return random.below(2) == 0;
    case 2:
      return static_cast<int64_t>(random.below(7)) - 3;
    case 3: {
      const int64_t large[] = {9007199254740992, 9007199254740993, INT64_MAX, INT64_MIN};
      return large[random.below(4)];
    }
    case 4: {
      const double reals[] = {0.0, -0.0, 0.5, 9007199254740992.0, 1.8446744073709552e19, -2.0};
      return reals[random.below(6)];
    }
    case 5:
      return uint64_t{18446744073709551615U};
    default:
      return kTexts[random.below(std::size(kTexts))];
  }
}

base::Json random_value(base::Random& random, int depth) {
  const uint64_t kind = random.below(10);
  if (kind == 0 || kind == 1) {
    base::Json list = base::Json::array();
    for (uint64_t items = random.below(4); items > 0; --items) {
      list.push_back(depth > 0 && random.below(6) == 0 ? random_value(random, depth - 1)
                                                       : random_scalar(random));
    }
    return list;
  }
  if (kind == 2 && depth > 0) {
    base::Json object = base::Json::object();
    for (uint64_t members = random.below(4); members > 0; --members) {
      object["k" + std::to_string(random.below(3))] = random_value(random, depth - 1);
    }
    return object;
  }
  return random_scalar(random);
}

/// `kinds` narrows what a key may hold, so that columns of one type occur beside mixed ones.
std::vector<std::string> random_rows(base::Random& random, size_t count) {
  std::vector<std::string> rows(count);
  const uint64_t keys = 1 + random.below(4);
  for (std::string& row : rows) {
    base::Json object = base::Json::object();
    for (uint64_t key = 0; key < keys; ++key) {
      if (random.below(key + 1) == 0) {
        object["k" + std::to_string(key)] = random_value(random, 3);
      }
    }
    object["number"] = static_cast<int64_t>(random.below(700));
    if (random.below(60) == 0) {
      object["rare"] = random_scalar(random);
    }
    row = random.below(20) == 0 ? std::string() : base::dump_json(object);
  }
  return rows;
}

std::string random_path(base::Random& random) {
  std::string path = random.below(5) == 0   ? "number"
                     : random.below(6) == 0 ? "rare"
                                            : "k" + std::to_string(random.below(5));
  while (random.below(4) == 0) {
    path += ".k" + std::to_string(random.below(3));
  }
  return path;
}

std::string random_literal(base::Random& random, bool boolean) {
  while (true) {
    const base::Json value =
        random.below(3) == 0 ? base::Json(random.below(700)) : random_scalar(random);
    const std::string text = base::dump_json(value);
    if (!value.is_null() && (boolean || !value.is_boolean())) {
      return text;
    }
  }
}

std::string random_list(base::Random& random) {
  std::string list = "[";
  for (uint64_t items = random.below(5); items > 0; --items) {
    list += random_literal(random, true) + (items > 1 ? ", " : "");
  }
  return list + "]";
}

std::string random_text(base::Random& random) {
  return base::dump_json(base::Json(kTexts[random.below(std::size(kTexts))]));
}

std::string random_test(base::Random& random) {
  const std::string path = random_path(random);
  switch (random.below(8)) {
    case 0:
      return path + (random.below(2) == 0 ? " = " : " != ") +
             (random.below(4) == 0 ? random_list(random) : random_literal(random, true));
    case 1:
      return path + " exists";
    case 2:
      return path + (random.below(3) == 0 ? " not in " : " in ") + random_list(random);
    case 3:
      return path + " contains " + random_literal(random, true);
    case 4:
      return path + " starts_with " + random_text(random);
    default: {
      const char* const operators[] = {" < ", " <= ", " > ", " >= "};
      return path + operators[random.below(4)] + random_literal(random, false);
    }
  }
}

std::string random_filter(base::Random& random, int depth) {
  switch (depth == 0 ? 3 : random.below(5)) {
    case 0:
      return random_filter(random, depth - 1) + " and " + random_filter(random, depth - 1);
    case 1:
      return "(" + random_filter(random, depth - 1) + " or " + random_filter(random, depth - 1) +
             ")";
    case 2:
      return "not (" + random_filter(random, depth - 1) + ")";
    default:
      return random_test(random);
  }
}

TEST(SelectRows, GivesWhatTheRowEvaluatorGives) {
  base::Random random(1);
  for (int schema = 0; schema < 25; ++schema) {
    const size_t counts[] = {1, 63, 64, 65, 130, 400};
    const auto segment = open_file(file_of(random_rows(random, counts[schema % 6])));
    ASSERT_NE(segment->typed_columns(), nullptr);
    ASSERT_TRUE(segment->typed_columns()->complete());
    for (int round = 0; round < 60; ++round) {
      expect_same_rows(*segment, random_filter(random, 3));
    }
  }
}

// Codes of one, two and four bytes, and a path of few rows.
TEST(SelectRows, ColumnsOfManyValues) {
  std::vector<std::string> rows;
  for (int row = 0; row < 70'000; ++row) {
    rows.push_back(fmt::format(R"({{"few": {}, "some": "t{}", "many": {}{}}})", row % 5, row % 999,
                               row * 3, row % 1000 == 0 ? R"(, "rare": [1, "x"])" : ""));
  }
  const auto segment = open_file(file_of(rows));
  std::vector<size_t> sizes;
  for (const TypedColumn& column : segment->typed_columns()->columns()) {
    sizes.push_back(column.code_bytes);
    EXPECT_EQ(column.rows.size(), column.path.ends_with("rare") ? 70 : 0);
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{1, 4, 1, 2}));  // few, many, rare, some
  const auto count = [&](const char* text) {
    return select_rows(tree_of(**Filter::parse(text)), *segment).count();
  };
  EXPECT_EQ(count("few = 3"), 14'000U);
  EXPECT_EQ(count("few in [0, 3]"), 28'000U);
  EXPECT_EQ(count("many < 30"), 10U);
  EXPECT_EQ(count("many in [3, 9, 10]"), 2U);
  EXPECT_EQ(count("some starts_with \"t1\" and many >= 207000"), 111U);
  EXPECT_EQ(count("some contains \"99\""), 1260U);
  EXPECT_EQ(count("rare contains \"x\""), 70U);
  EXPECT_EQ(count("not rare contains 1"), 69'930U);
}

TEST(SelectRows, DeepPathsUpToTheLimit) {
  std::string deep = "1";
  std::string path;
  for (size_t level = 0; level < kFilterDepthMax; ++level) {
    deep = R"({"a": )" + deep + "}";
    path += level == 0 ? "a" : ".a";
  }
  const auto segment =
      open_file(file_of({deep, "{}", R"({"a": {"a": 1}})", "{\"a\": " + deep + "}"}));
  for (const char* test : {" = 1", " != 1", " exists", " > 0"}) {
    expect_same_rows(*segment, path + test);
    expect_same_rows(*segment, "a.a" + std::string(test));
  }
  std::string nested = "a.a = 1";
  for (size_t level = 0; level + 2 < kFilterDepthMax; ++level) {
    nested = level % 2 == 0 ? "(" + nested + " or a exists)" : "not " + nested;
  }
  expect_same_rows(*segment, nested);
}

TEST(SelectRows, PathsPastTheLimitAreReadRowByRow) {
  std::vector<std::string> rows;
  for (size_t row = 0; row < kTypedColumnsMax + 50; ++row) {
    rows.push_back(fmt::format(R"({{"k{}": {}}})", row, row % 3));
  }
  const auto segment = open_file(file_of(rows));
  EXPECT_FALSE(segment->typed_columns()->complete());
  EXPECT_EQ(segment->typed_columns()->columns().size(), kTypedColumnsMax);
  for (const char* text : {"k0 = 0", "k1024 exists", "k1060 != 1", "k1073 < 5 or k2 = 2",
                           "unknown exists", "unknown != 3"}) {
    expect_same_rows(*segment, text);
  }
}

// What was written before there were typed columns.
TEST(SelectRows, FilesWithoutTypedColumnsAreReadRowByRow) {
  base::Random random(2);
  const std::string bytes = file_of(random_rows(random, 200));
  const auto file = *index::CheckedFile::open(index::memory_view(bytes), "rows", kRowsMagic, 1);
  std::vector<index::SectionSize> sections;
  for (const uint32_t id : {1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}) {
    sections.push_back({id, file.section(id).size()});
  }
  std::string old;
  index::CheckedFileWriter writer(kRowsMagic, kRowsVersion, sections,
                                  [&](std::string_view part) -> Result<void> {
                                    old += part;
                                    return {};
                                  });
  for (const index::SectionSize& section : sections) {
    ASSERT_TRUE(writer.append(file.section(section.id)));
  }
  ASSERT_TRUE(writer.finish());
  const auto segment = open_file(old);
  EXPECT_EQ(segment->typed_columns(), nullptr);
  for (int round = 0; round < 100; ++round) {
    expect_same_rows(*segment, random_filter(random, 2));
  }
}

// Damage that a checksum was made to fit is refused, or can be scanned all the same.
TEST(TypedColumns, HostileBytesAreRefusedOrScanned) {
  base::Random random(3);
  const MetadataSource source(random_rows(random, 90));
  const auto typed = [&](uint32_t row) { return source.column(row, kTypedColumn); };
  std::string all;
  for (uint32_t row = 0; row < source.rows(); ++row) {
    all += typed(row);
  }
  const std::string section = build_typed_columns(source.rows(), typed);
  std::vector<std::shared_ptr<const Filter>> tests;
  for (const char* text : {"a = 1", "a < \"b\"", "a in [1, \"x\", true]", "a contains \"o\"",
                           "a starts_with \"c\"", "a > \"2020-01-01\"", "a exists"}) {
    tests.push_back(*Filter::parse(text));
  }
  int opened = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes =
        section.substr(0, random.below(4) == 0 ? random.below(section.size()) : section.size());
    for (uint64_t flips = 1 + random.below(3); flips > 0 && !bytes.empty(); --flips) {
      bytes[random.below(std::min<size_t>(bytes.size(), random.below(2) == 0 ? 700 : SIZE_MAX))] =
          static_cast<char>(random.below(3) == 0 ? random.below(256) : random.below(4));
    }
    std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    const auto columns = TypedColumns::open(
        {reinterpret_cast<const char*>(aligned.data()), bytes.size()}, all, source.rows());
    if (!columns) {
      EXPECT_EQ(columns.error().code, Code::DataLoss);
      continue;
    }
    ++opened;
    for (const TypedColumn& column : columns->columns()) {
      for (const auto& test : tests) {
        index::RowSet rows(source.rows());
        const TestCodes codes = codes_of_test(tree_of(*test).root(), column);
        scan_codes(column, codes.values, rows);
        scan_lists(column, codes.items, rows);
        EXPECT_LE(rows.count(), source.rows());
      }
    }
  }
  EXPECT_GT(opened, 100);
}

}  // namespace
}  // namespace sibyl::store
