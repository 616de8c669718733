#include "base/csv.h"

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace sibyl::base {
namespace {

std::vector<CsvRecord> records_of(const std::string& content, char delimiter = ',',
                                  uint64_t bytes_max = 1000) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "rows");
  EXPECT_TRUE(replace_file(path, content));
  std::vector<CsvRecord> records;
  const auto done = for_each_csv_record(path, delimiter, bytes_max, [&](CsvRecord&& record) {
    records.push_back(std::move(record));
    return true;
  });
  EXPECT_TRUE(done) << done.error().message;
  return records;
}

using Fields = std::vector<std::string>;

TEST(Csv, ReadsQuotesLineEndsAndEmptyFields) {
  const auto records =
      records_of("\xEF\xBB\xBFid,text\r\n1,\"a \"\"b\"\", c\nsecond line\"\n\n2,\n");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].fields, (Fields{"id", "text"}));
  EXPECT_EQ(records[1].fields, (Fields{"1", "a \"b\", c\nsecond line"}));
  EXPECT_EQ(records[1].line, 2U);
  EXPECT_EQ(records[2].fields, (Fields{"2", ""}));
  EXPECT_EQ(records[2].line, 5U);
}

TEST(Csv, TabsSeparateAsWell) {
  EXPECT_EQ(records_of("a,b\tc\n", '\t')[0].fields, (Fields{"a,b", "c"}));
}

TEST(Csv, AStrayQuoteIsNamedAndTheNextRecordIsRead) {
  const auto records = records_of("1,a\"b\n2,\"a\"b\n3,c\n");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_NE(records[0].error.find("stray quote at column 4"), std::string::npos);
  EXPECT_NE(records[1].error.find("stray quote"), std::string::npos);
  EXPECT_EQ(records[2].fields, (Fields{"3", "c"}));
}

TEST(Csv, AQuoteThatNeverClosesIsNamedByItsLine) {
  const auto records = records_of("1,a\n2,\"b\n3,c\n4,d\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].line, 2U);
  EXPECT_NE(records[1].error.find("not closed"), std::string::npos);
}

TEST(Csv, ARecordOverTheLimitIsNamedAndSkipped) {
  const auto records = records_of("1," + std::string(50, 'x') + "\n2,b\n", ',', 20);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].error, "longer than 20 bytes");
  EXPECT_EQ(records[1].fields, (Fields{"2", "b"}));
  const auto many = records_of("1,\"a\n" + std::string(30, '\n') + "b\"\n", ',', 20);
  EXPECT_EQ(many[0].error, "longer than 20 bytes");
}

}  // namespace
}  // namespace sibyl::base
