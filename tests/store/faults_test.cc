// A disk that fails or fills up: nothing acknowledged is lost, nothing refused becomes visible, and
// the collection goes on or says why it does not.

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

using Model = std::map<std::string, std::string>;

DatabaseOptions small_tail() {
  return test_options(4);
}

TEST(Faults, AnyFailingCallLosesNothingAndShowsNothingThatWasRefused) {
  const auto script = test_script(3, 20, 12);
  uint64_t calls = 0;
  for (uint64_t call = 0; call == 0 || call <= calls; ++call) {
    SCOPED_TRACE(fmt::format("call {} fails", call));
    CrashFileSystem files;
    auto database = Database::open("/data", small_tail(), files);
    ASSERT_TRUE(database);
    auto rows = (*database)->create("c", test_schema(), "{}");
    ASSERT_TRUE(rows);
    const uint64_t before = files.calls();
    files.fail_at(before + call);
    Model model;
    std::vector<Change> refused;
    for (const auto& batch : script) {
      if ((*rows)->write(batch)) {
        // Once a log cannot be trusted, no later change is taken.
        for (const Change& change : batch) {
          apply_change(model, change);
        }
      } else if (refused.empty()) {
        refused = batch;
      }
      ASSERT_EQ(see_rows(*(*rows)->snapshot()), model);
      (*database)->settle();
      ASSERT_EQ(see_rows(*(*rows)->snapshot()), model);
    }
    if (call == 0) {
      calls = files.calls() - before;
    }
    rows->reset();
    database->reset();
    auto again = Database::open("/data", small_tail(), files);
    ASSERT_TRUE(again) << again.error().message;
    const Model found = see_rows(*(*(*again)->find("c"))->snapshot());
    // What was refused by a failed sync may have reached the disk; nothing was built on it.
    Model with_refused = model;
    bool possible = found == model;
    for (const Change& change : refused) {
      apply_change(with_refused, change);
      possible = possible || found == with_refused;
    }
    ASSERT_TRUE(possible);
  }
  EXPECT_GT(calls, 60U);
}

TEST(Faults, AFullDiskRefusesWritesAndTheCollectionGoesOnWhenThereIsSpace) {
  CrashFileSystem files;
  auto database = *Database::open("/data", small_tail(), files);
  const auto rows = *database->create("c", test_schema(), "{}");
  ASSERT_TRUE(rows->write({put(test_row("a", 1))}));
  files.fill_at(1);
  for (int i = 0; i < 3; ++i) {
    const auto refused = rows->write({put(test_row("b", 1))});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::IoError);
    EXPECT_NE(refused.error().message.find("no space"), std::string::npos);
  }
  EXPECT_EQ(rows->snapshot()->live_rows(), 1U);
  EXPECT_FALSE(rows->set_settings("x"));
  EXPECT_EQ(rows->settings(), "{}");
  files.free_space();
  ASSERT_TRUE(rows->write({put(test_row("c", 1))}));
  ASSERT_TRUE(rows->set_settings("x"));
  database.reset();
  database.reset();  // first: the old one may still be sealing and merging
  database = *Database::open("/data", small_tail(), files);
  const auto again = *database->find("c");
  EXPECT_EQ(see_rows(*again->snapshot()).size(), 2U);
  EXPECT_FALSE(again->snapshot()->find("b"));
}

// The rows of a tail that cannot be sealed are durable in the log.
TEST(Faults, SealingThatFailsIsTriedAgainAndWritesGoOnMeanwhile) {
  CrashFileSystem files;
  auto database = *Database::open("/data", small_tail(), files);
  const auto rows = *database->create("c", test_schema(), "{}");
  uint64_t version = 0;
  Model model;
  const auto write_one = [&] {
    const Row row = test_row("r" + std::to_string(version), version);
    ++version;
    ASSERT_TRUE(rows->write({put(row)}));
    database->settle();
    model[row.id] = row.source;
  };
  for (int i = 0; i < 3; ++i) {
    write_one();
  }
  // The fourth row's append, sync and mark succeed, then space for the new log is missing.
  files.fail_at(files.calls() + 4);
  write_one();
  EXPECT_EQ(rows->statistics().sealed_segments, 0U);
  for (int i = 0; i < 4; ++i) {
    write_one();
  }
  EXPECT_EQ(rows->statistics().sealed_segments, 1U);
  EXPECT_EQ(rows->statistics().tail_rows,
            0U + model.size() - rows->statistics().live_rows + rows->statistics().tail_rows);
  EXPECT_EQ(see_rows(*rows->snapshot()), model);
  files.crash(CrashKind::Lost, 1);
  database.reset();  // first: the old one may still be sealing and merging
  database = *Database::open("/data", small_tail(), files);
  EXPECT_EQ(see_rows(*(*database->find("c"))->snapshot()), model);
}

// Taking over the log of a process that was killed needs space; reading does not.
TEST(Faults, AStartOnAFullDiskAnswersAndTakesNoChanges) {
  CrashFileSystem files;
  {
    auto database = *Database::open("/data", small_tail(), files);
    const auto rows = *database->create("c", test_schema(), "{}");
    for (uint64_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(rows->write({put(test_row("d" + std::to_string(i), i))}));
    }
    files.fill_at(files.calls() + 6);  // the log has ended, the segment cannot be written
    ASSERT_FALSE(rows->seal());
  }
  for (const bool full : {true, false}) {
    full ? files.fill_at(files.calls() + 2) : files.free_space();  // the folders are there
    auto database = Database::open("/data", small_tail(), files);
    ASSERT_TRUE(database) << database.error().message;
    const auto rows = *(*database)->find("c");
    EXPECT_EQ(rows->snapshot()->live_rows(), 4U);
    EXPECT_EQ(rows->statistics().trouble.empty(), !full);
    EXPECT_EQ(rows->write({put(test_row("d0", 9))}).has_value(), !full);
  }
}

TEST(Faults, AfterAFailedSyncWritesAreRefusedUntilTheNextStart) {
  CrashFileSystem files;
  auto database = *Database::open("/data", small_tail(), files);
  const auto rows = *database->create("c", test_schema(), "{}");
  ASSERT_TRUE(rows->write({put(test_row("a", 1))}));
  files.fail_at(files.calls() + 2);  // the append succeeds, the sync does not
  ASSERT_FALSE(rows->write({put(test_row("b", 1))}));
  const auto refused = rows->write({put(test_row("c", 1))});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::IoError);
  EXPECT_NE(refused.error().message.find("started again"), std::string::npos);
  EXPECT_FALSE(rows->seal());
  EXPECT_FALSE(rows->compact({}, {}));
  EXPECT_FALSE(rows->set_settings("x"));
  EXPECT_EQ(rows->snapshot()->live_rows(), 1U);  // reading goes on
  EXPECT_TRUE(rows->snapshot()->find("a"));
  database.reset();  // first: the old one may still be sealing and merging
  database = *Database::open("/data", small_tail(), files);
  EXPECT_TRUE((*database->find("c"))->write({put(test_row("c", 1))}));
}

}  // namespace
}  // namespace sibyl::store
