#include "base/lock_file.h"

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace sibyl::base {
namespace {

// OFD locks belong to the open file, so two of one process exclude each other as well.
TEST(LockFile, ASecondHolderIsRefusedUntilTheFirstLetsGo) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "lock");
  auto first = LockFile::acquire(path);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = LockFile::acquire(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Unavailable);
  first->reset();
  EXPECT_TRUE(LockFile::acquire(path));
}

TEST(LockFile, ItsContentIsReadWithoutTheLock) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "lock");
  const auto lock = LockFile::acquire(path);
  ASSERT_TRUE(lock);
  ASSERT_TRUE((*lock)->write_content("a longer content"));
  ASSERT_TRUE((*lock)->write_content("short"));
  EXPECT_EQ(*LockFile::read_content(path), "short");
}

TEST(LockFile, AMissingFolderIsNamed) {
  const auto lock = LockFile::acquire("/no/such/folder/lock");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, Code::NotFound);
}

}  // namespace
}  // namespace sibyl::base
