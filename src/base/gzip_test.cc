#include "base/gzip.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/random.h"

namespace sibyl::base {
namespace {

std::string noise(size_t bytes) {
  Random random(7);
  std::string out(bytes, '\0');
  for (char& c : out) {
    c = static_cast<char>(random());
  }
  return out;
}

TEST(Gzip, GoesThereAndBack) {
  for (const std::string& text : {std::string(), std::string("short"), noise(300'000)}) {
    const auto back = gunzip(gzip(text), 1 << 20);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, text);
  }
}

TEST(Gunzip, ReadsSeveralMembersAndPadding) {
  EXPECT_EQ(*gunzip(gzip("one ") + gzip("two"), 100), "one two");
  EXPECT_EQ(*gunzip(gzip("one") + std::string(512, '\0'), 100), "one");
}

TEST(Gunzip, RefusesABomb) {
  const std::string bomb = gzip(std::string(10 << 20, 'a'));
  ASSERT_LT(bomb.size(), 20'000U);
  EXPECT_EQ(gunzip(bomb, 1 << 20).error().code, Code::TooLarge);
}

TEST(Gunzip, EveryTruncationIsRefused) {
  const std::string whole = gzip("a text that is long enough to have a body");
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto result = gunzip(std::string_view(whole).substr(0, length), 1000);
    ASSERT_FALSE(result) << length;
    EXPECT_EQ(result.error().code, Code::InvalidData);
  }
}

TEST(Gunzip, DamageAndForeignBytesAreRefused) {
  std::string damaged = gzip(noise(1000));
  damaged[500] = static_cast<char>(damaged[500] ^ 0x55);
  EXPECT_EQ(gunzip(damaged, 10'000).error().code, Code::InvalidData);
  EXPECT_EQ(gunzip(gzip("x") + "tail", 100).error().code, Code::InvalidData);
  EXPECT_EQ(gunzip("plain text", 100).error().code, Code::InvalidData);
}

struct Seen {
  std::vector<std::string> lines;
  std::vector<uint64_t> too_long;
};

Seen lines_of(const std::string& content, uint64_t line_bytes_max) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "lines");
  EXPECT_TRUE(replace_file(path, content));
  Seen seen;
  const auto done = for_each_line(path, line_bytes_max, [&](const Line& line) {
    if (line.too_long) {
      seen.too_long.push_back(line.number);
    }
    seen.lines.emplace_back(line.text);
    return true;
  });
  EXPECT_TRUE(done) << done.error().message;
  return seen;
}

using Lines = std::vector<std::string>;

TEST(ForEachLine, CutsAtLineEndsOfBothKinds) {
  EXPECT_EQ(lines_of("a\nb\r\n\nlast", 10).lines, (Lines{"a", "b", "", "last"}));
  EXPECT_EQ(lines_of("a\n", 10).lines, (Lines{"a"}));
  EXPECT_TRUE(lines_of("", 10).lines.empty());
}

TEST(ForEachLine, ReadsGzipAsWell) {
  EXPECT_EQ(lines_of(gzip("a\nb\n"), 10).lines, (Lines{"a", "b"}));
}

TEST(ForEachLine, LinesOverTheLimitAreNamedAndSkipped) {
  const Seen seen = lines_of("12345\n123456\n12345\r\nx", 5);
  EXPECT_EQ(seen.lines, (Lines{"12345", "", "12345", "x"}));
  EXPECT_EQ(seen.too_long, (std::vector<uint64_t>{2}));
}

// 200 MB of one line inflate from a small file; held would fail the address space of a small box.
TEST(ForEachLine, ALineOverManyChunksIsNotHeld) {
  std::string content = gzip(std::string(64 << 20, 'a'), 1);
  content += gzip("\nnext\n");
  const Seen seen = lines_of(content, 1000);
  EXPECT_EQ(seen.lines, (Lines{"", "next"}));
  EXPECT_EQ(seen.too_long, (std::vector<uint64_t>{1}));
}

TEST(ForEachLine, LongLinesAcrossChunksAreWhole) {
  const std::string line = std::string(600'000, 'b');
  EXPECT_EQ(lines_of("a\n" + line + "\nc", 1 << 20).lines, (Lines{"a", line, "c"}));
}

TEST(ForEachLine, StopsWhenTold) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "lines");
  ASSERT_TRUE(replace_file(path, "1\n2\n3\n"));
  int count = 0;
  ASSERT_TRUE(for_each_line(path, 10, [&](const Line&) { return ++count < 2; }));
  EXPECT_EQ(count, 2);
}

TEST(ForEachLine, TruncatedGzipIsAnErrorThatNamesTheFile) {
  const TemporaryDirectory folder;
  const std::string path = join_path(folder.path(), "cut.gz");
  const std::string whole = gzip(noise(10'000));
  ASSERT_TRUE(replace_file(path, std::string_view(whole).substr(0, whole.size() / 2)));
  const auto done = for_each_line(path, 100, [](const Line&) { return true; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::InvalidData);
  EXPECT_NE(done.error().message.find("cut.gz"), std::string::npos);
}

TEST(ForEachLine, MissingFilesAndFoldersAreErrors) {
  const auto nothing = [](const Line&) { return true; };
  EXPECT_EQ(for_each_line("/no/such/file", 10, nothing).error().code, Code::NotFound);
  EXPECT_FALSE(for_each_line("/tmp", 10, nothing));
}

}  // namespace
}  // namespace sibyl::base
