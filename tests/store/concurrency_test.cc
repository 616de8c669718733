// Writers, readers and maintenance at once; meant for the thread sanitizer as well.

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

TEST(Concurrency, ReadersSeeWholeSnapshotsWhileWritersAndMaintenanceGoOn) {
  CrashFileSystem files;
  DatabaseOptions options;
  options.tail_rows_max = 40;
  auto database = *Database::open("/data", options, files);
  const auto rows = *database->create("c", test_schema(), "{}");
  constexpr uint64_t kWriters = 3;
  constexpr uint64_t kWrites = 60;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (uint64_t i = 0; i < kWrites; ++i) {
        // Both rows of a pair are written by one call, so every snapshot shows the same version.
        const std::string id = std::to_string(writer) + "-" + std::to_string(i % 10);
        const auto done = rows->write({put(test_row(id + "a", i)), put(test_row(id + "b", i))});
        EXPECT_TRUE(done);
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      EXPECT_TRUE(rows->compact({}, {}));
      EXPECT_TRUE(rows->verify());
      EXPECT_TRUE(rows->set_settings("s"));
    }
  });
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      uint64_t sequence = 0;
      while (!stop) {
        const auto snapshot = rows->snapshot();
        EXPECT_GE(snapshot->sequence(), sequence);
        sequence = snapshot->sequence();
        const auto seen_rows = see_rows(*snapshot);
        EXPECT_EQ(seen_rows.size(), snapshot->live_rows());
        for (const auto& [id, source] : seen_rows) {
          const std::string twin = id.substr(0, id.size() - 1) + (id.back() == 'a' ? "b" : "a");
          EXPECT_TRUE(seen_rows.contains(twin)) << id;
        }
        EXPECT_TRUE(snapshot->search_vectors(0, test_queries()[1], 5, nullptr));
        EXPECT_TRUE(snapshot->search_text(0, snapshot->analyze("river bridge"), 5, nullptr));
        static_cast<void>(rows->statistics());
      }
    });
  }
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    threads[writer].join();
  }
  stop = true;
  for (size_t i = kWriters; i < threads.size(); ++i) {
    threads[i].join();
  }
  EXPECT_EQ(rows->snapshot()->live_rows(), 60U);
  EXPECT_EQ(rows->snapshot()->sequence(), kWriters * kWrites * 2);
  database.reset();  // first: the old one may still be sealing and merging
  database = *Database::open("/data", options, files);
  const auto found = database->find("c");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->snapshot()->live_rows(), 60U);
}

}  // namespace
}  // namespace sibyl::store
