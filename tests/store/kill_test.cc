// kill -9 on the real file system: a child writes and tells each acknowledged change through a
// pipe; it is killed at a random moment, and all that it had told must be there.

#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

DatabaseOptions small_tail() {
  DatabaseOptions options;
  options.tail_rows_max = 8;
  return options;
}

/// Writes versions of a few documents for ever; each line of the pipe is an acknowledged version.
[[noreturn]] void write_until_killed(const std::string& folder, int pipe_end, uint64_t first) {
  auto database = Database::open(folder, small_tail());
  if (!database) {
    ::_exit(3);
  }
  auto rows = (*database)->find("c");
  if (!rows) {
    ::_exit(4);
  }
  for (uint64_t version = first;; ++version) {
    const std::string id = "d" + std::to_string(version % 11);
    const auto done = version % 5 == 0 ? (*rows)->write({erase(id)})
                                       : (*rows)->write({put(test_row(id, version))});
    if (!done || ::write(pipe_end, &version, sizeof(version)) != sizeof(version)) {
      ::_exit(5);
    }
  }
}

/// The versions that a child acknowledged before it was killed.
uint64_t run_and_kill(const std::string& folder, uint64_t first, uint64_t wait_us) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_until_killed(folder, ends[1], first);
  }
  ::close(ends[1]);
  uint64_t last = first - 1;
  uint64_t version = 0;
  // The time starts with the first answer: opening may take any time on a busy machine.
  if (::read(ends[0], &version, sizeof(version)) == sizeof(version)) {
    last = version;
    ::usleep(static_cast<useconds_t>(wait_us));
  }
  ::kill(child, SIGKILL);
  while (::read(ends[0], &version, sizeof(version)) == sizeof(version)) {
    last = version;
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
  return last;
}

TEST(Kill, NoAcknowledgedChangeIsLostWhenTheProcessIsKilled) {
  base::TemporaryDirectory folder;
  {
    auto database = *Database::open(folder.path(), small_tail());
    ASSERT_TRUE(database->create("c", test_schema(), "{}"));
  }
  base::Random random(1);
  std::map<std::string, std::string> model;
  uint64_t next = 1;
  for (int round = 0; round < 6; ++round) {
    const uint64_t last = run_and_kill(folder.path(), next, random.below(40'000));
    ASSERT_GE(last, next);
    auto database = Database::open(folder.path(), small_tail());
    ASSERT_TRUE(database) << database.error().message;
    const auto rows = *(*database)->find("c");
    const auto found = see_rows(*rows->snapshot());
    const auto apply_version = [&](uint64_t version) {
      const std::string id = "d" + std::to_string(version % 11);
      apply_change(model, version % 5 == 0 ? erase(id) : put(test_row(id, version)));
    };
    for (; next <= last; ++next) {
      apply_version(next);
    }
    if (found != model) {
      apply_version(next++);  // the change in flight may be there
    }
    ASSERT_EQ(found, model) << "round " << round;
    EXPECT_TRUE(rows->verify());
  }
}

}  // namespace
}  // namespace sibyl::store
