#include "base/file_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sibyl::base {
namespace {

std::string text_of(const std::string& path) {
  return read_file(path).value_or("<no file>");
}

TEST(RealFileSystem, ReplaceLeavesTheNewContentAndNothingBeside) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "state.json");
  ASSERT_TRUE(replace_file(path, "one"));
  ASSERT_TRUE(replace_file(path, "two"));
  EXPECT_EQ(text_of(path), "two");
  EXPECT_EQ(real_file_system().list(folder.path())->size(), 1U);
}

TEST(RealFileSystem, ReplaceInAMissingFolderNamesIt) {
  const TemporaryDirectory folder;
  const auto done = replace_file(join_path(folder.path(), "no/such/file"), "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::NotFound);
  EXPECT_NE(done.error().message.find("no/such/file"), std::string::npos);
}

TEST(RealFileSystem, AppendGoesOnBehindTheKeptBytes) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "log");
  ASSERT_TRUE(replace_file(path, "whole|torn"));
  auto file = real_file_system().open_append(path, 6);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 6U);
  ASSERT_TRUE((*file)->append("new"));
  ASSERT_TRUE((*file)->sync());
  EXPECT_EQ((*file)->size(), 9U);
  ASSERT_TRUE((*file)->close());
  EXPECT_EQ(text_of(path), "whole|new");
}

TEST(RealFileSystem, AMappedFileLivesOnAfterItsRemoval) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "data");
  ASSERT_TRUE(replace_file(path, "still here"));
  const auto view = real_file_system().map(path);
  ASSERT_TRUE(view);
  ASSERT_TRUE(real_file_system().remove(path));
  EXPECT_EQ((*view)->bytes(), "still here");
}

TEST(RealFileSystem, AnEmptyFileMapsToNoBytes) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "empty");
  ASSERT_TRUE(replace_file(path, ""));
  EXPECT_EQ(text_of(path), "");
}

TEST(RealFileSystem, WhatIsSaidOfReadingChangesNoByte) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "data");
  const std::string text(20'000, 'x');
  ASSERT_TRUE(replace_file(path, text));
  const auto view = real_file_system().map(path);
  ASSERT_TRUE(view);
  for (const ReadPattern pattern : {ReadPattern::Singly, ReadPattern::Soon, ReadPattern::Usual}) {
    (*view)->expect(pattern, 0, text.size());
    (*view)->expect(pattern, 5'000, SIZE_MAX);
    (*view)->expect(pattern, text.size(), 1);
    EXPECT_EQ((*view)->bytes(), text);
  }
}

TEST(RealFileSystem, FoldersAndPipesAreNotMapped) {
  const TemporaryDirectory folder;
  const auto as_file = real_file_system().map(folder.path());
  ASSERT_FALSE(as_file);
  EXPECT_EQ(as_file.error().code, Code::InvalidArgument);
  const std::string pipe = join_path(folder.path(), "pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(real_file_system().map(pipe));  // and does not wait for a writer
}

TEST(RealFileSystem, AMissingFileIsNotFound) {
  const auto missing = read_file("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound);
}

TEST(RealFileSystem, AFolderUnderAFileCannotBeCreated) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "file");
  ASSERT_TRUE(replace_file(path, "x"));
  const auto done = real_file_system().create_directories(join_path(path, "below"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::CannotCreate);
}

TEST(RealFileSystem, ListIsSortedAndSaysWhatIsAFolder) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(replace_file(join_path(folder.path(), "b"), "12345"));
  ASSERT_TRUE(real_file_system().create_directories(join_path(folder.path(), "a/c")));
  const auto entries = real_file_system().list(folder.path());
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].name, "a");
  EXPECT_TRUE((*entries)[0].directory);
  EXPECT_EQ((*entries)[1].bytes, 5U);
  ASSERT_TRUE(real_file_system().remove_tree(join_path(folder.path(), "a")));
  EXPECT_FALSE(real_file_system().exists(join_path(folder.path(), "a")));
}

TEST(ReadFile, RefusesWhatIsOverTheLimit) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "large");
  ASSERT_TRUE(replace_file(path, "123456"));
  EXPECT_EQ(read_file(path, 5).error().code, Code::TooLarge);
  EXPECT_TRUE(read_file(path, 6));
}

TEST(JoinPath, KeepsAbsoluteNames) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
}

TEST(TemporaryDirectory, IsGoneAfterwards) {
  std::string path;
  {
    const TemporaryDirectory folder;
    path = folder.path();
    ASSERT_TRUE(replace_file(join_path(path, "x"), "y"));
  }
  EXPECT_FALSE(real_file_system().exists(path));
}

}  // namespace
}  // namespace sibyl::base
