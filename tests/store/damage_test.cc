// Damage of files at rest: every byte of every file of a small collection is changed in turn.
// Primary data is refused by name, derived files are made again, and only the mark at the very end
// of the log, which says nothing about any row, may go unnoticed.

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/record.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

constexpr const char* kFolder = "/data/collections/c/";

DatabaseOptions small_tail() {
  return test_options(4);
}

/// Two sealed segments with deleted rows, and a tail.
void fill(CrashFileSystem& files) {
  auto database = *Database::open("/data", small_tail(), files);
  const auto rows = *database->create("c", test_schema(), "{\"s\":1}");
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(rows->write({put(test_row("d" + std::to_string(i % 7), i + 1))}));
    database->settle();
  }
  ASSERT_TRUE(rows->write({erase("d0"), put(test_row("last", 1))}));
}

std::vector<std::string> names(CrashFileSystem& files) {
  std::vector<std::string> result;
  const auto entries = *files.list(kFolder);
  for (const auto& entry : entries) {
    result.push_back(entry.name);
  }
  return result;
}

size_t size_of(CrashFileSystem& files, const std::string& name) {
  return files.status(kFolder + name)->bytes;
}

/// Flips a bit of every byte of a file that a collection was opened from.
void flip_each(const std::string& name, size_t end) {
  CrashFileSystem files;
  fill(files);
  const auto expected = [&] {
    auto database = *Database::open("/data", small_tail(), files);
    return see_rankings(*(*database->find("c"))->snapshot());
  }();
  const size_t bytes = size_of(files, name);
  for (size_t at = 0; at < bytes; ++at) {
    SCOPED_TRACE(fmt::format("byte {} of {} in {}", at, bytes, name));
    CrashFileSystem damaged;
    fill(damaged);
    damaged.flip(kFolder + name, at, static_cast<uint8_t>(1U << (at % 8)));
    auto database = Database::open("/data", small_tail(), damaged);
    if (!database) {
      ASSERT_EQ(database.error().code, Code::DataLoss) << database.error().message;
      ASSERT_NE(database.error().message.find(name), std::string::npos) << database.error().message;
      ASSERT_NE(database.error().message.find("collection 'c'"), std::string::npos);
      continue;
    }
    ASSERT_GE(at, end) << "the damage went unnoticed";
    const auto rows = *(*database)->find("c");
    ASSERT_EQ(see_rankings(*rows->snapshot()), expected);
    ASSERT_TRUE(rows->verify());
  }
}

TEST(Damage, OfAnyByteOfAPrimaryFileIsNamed) {
  CrashFileSystem files;
  fill(files);
  size_t tried = 0;
  for (const std::string& name : names(files)) {
    if (name == "MANIFEST" || name.ends_with(".vectors") || name.ends_with(".rows")) {
      if (!name.ends_with(".rows") || ++tried == 1) {  // one is enough of the larger ones
        flip_each(name, SIZE_MAX);
      }
    }
  }
  EXPECT_EQ(tried, 2U);
}

TEST(Damage, OfAnyByteOfPostingsIsMended) {
  CrashFileSystem files;
  fill(files);
  for (const std::string& name : names(files)) {
    if (name.ends_with(".postings")) {
      flip_each(name, 0);
      return;
    }
  }
  FAIL() << "there are no postings";
}

TEST(Damage, OfAnyByteOfTheLogIsNamedExceptInTheLastMark) {
  CrashFileSystem files;
  fill(files);
  for (const std::string& name : names(files)) {
    if (name.starts_with("log-")) {
      flip_each(name, size_of(files, name) - kRecordHeaderBytes);
    }
  }
}

TEST(Damage, TellsWhatIsLost) {
  CrashFileSystem files;
  fill(files);
  std::string log;
  std::string rows;
  for (const std::string& name : names(files)) {
    log = name.starts_with("log-") ? name : log;
    rows = name.ends_with(".rows") ? name : rows;
  }
  files.flip(kFolder + log, kLogHeaderBytes + kRecordHeaderBytes + 3, 1);
  auto opened = Database::open("/data", small_tail(), files);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("sequences 9 to 9 are lost"), std::string::npos)
      << opened.error().message;
  files.flip(kFolder + log, kLogHeaderBytes + kRecordHeaderBytes + 3, 1);
  files.flip(kFolder + rows, 500, 1);
  opened = Database::open("/data", small_tail(), files);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("documents of 4 rows (sequences 5 to 8) are lost"),
            std::string::npos)
      << opened.error().message;
}

TEST(Damage, MissingFilesAreDamage) {
  CrashFileSystem intact;
  fill(intact);
  for (const std::string& name : names(intact)) {
    CrashFileSystem files;
    fill(files);
    ASSERT_TRUE(files.remove(kFolder + name));
    auto opened = Database::open("/data", small_tail(), files);
    if (name.ends_with(".postings")) {
      EXPECT_TRUE(opened) << opened.error().message;
      continue;
    }
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, Code::DataLoss) << opened.error().message;
    EXPECT_NE(opened.error().message.find(name), std::string::npos) << opened.error().message;
  }
}

// While it runs: what was opened is checked anew.
TEST(Damage, IsFoundByVerifyInARunningCollection) {
  CrashFileSystem intact;
  fill(intact);
  for (const std::string& name : names(intact)) {
    CrashFileSystem files;
    fill(files);
    auto database = *Database::open("/data", small_tail(), files);
    const auto rows = *database->find("c");
    ASSERT_TRUE(rows->verify());
    files.flip(kFolder + name, size_of(files, name) - 1, 0x40);
    const auto verified = rows->verify();
    ASSERT_FALSE(verified) << name;
    EXPECT_EQ(verified.error().code, Code::DataLoss);
    EXPECT_NE(verified.error().message.find(name), std::string::npos);
  }
}

TEST(Damage, ALogThatIsCutInsideARecordLosesOnlyWhatWasNeverWhole) {
  CrashFileSystem files;
  fill(files);
  std::string log;
  for (const std::string& name : names(files)) {
    log = name.starts_with("log-") ? name : log;
  }
  const size_t bytes = size_of(files, log);
  uint64_t rows_before = UINT64_MAX;
  for (size_t end = bytes; end > kLogHeaderBytes; --end) {
    CrashFileSystem cut;
    fill(cut);
    ASSERT_TRUE(cut.open_append(kFolder + log, end));
    auto opened = Database::open("/data", small_tail(), cut);
    ASSERT_TRUE(opened) << opened.error().message;
    const uint64_t sequence = (*(*opened)->find("c"))->snapshot()->sequence();
    ASSERT_LE(sequence, rows_before);
    rows_before = sequence;
  }
  EXPECT_EQ(rows_before, 8U);
}

}  // namespace
}  // namespace sibyl::store
