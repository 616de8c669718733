#include "index/checked_file.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "index/memory_view.h"

namespace sibyl::index {
namespace {

constexpr std::string_view kMagic = "SIBYLTST";

std::string make_file(const std::vector<std::string>& sections) {
  std::vector<SectionSize> sizes;
  for (size_t i = 0; i < sections.size(); ++i) {
    sizes.push_back({static_cast<uint32_t>(i + 1), sections[i].size()});
  }
  std::string bytes;
  CheckedFileWriter writer(kMagic, 7, sizes, [&](std::string_view part) -> Result<void> {
    bytes += part;
    return {};
  });
  for (const std::string& section : sections) {
    EXPECT_TRUE(writer.append(section));
  }
  EXPECT_TRUE(writer.finish());
  return bytes;
}

Result<CheckedFile> open_bytes(std::string bytes, uint32_t version = 7) {
  return CheckedFile::open(memory_view(std::move(bytes)), "test.file", kMagic, version);
}

TEST(CheckedFile, GivesSectionsBackAlignedAndEmptyOnesToo) {
  const std::string large(3 * kCheckedFileBlockBytes + 17, 'x');
  const auto file = open_bytes(make_file({"one", "", large, "", "last"}));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->section(1), "one");
  EXPECT_EQ(file->section(2), "");
  EXPECT_EQ(file->section(3), large);
  EXPECT_EQ(file->section(5), "last");
  EXPECT_EQ(file->section(9), "");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->section(3).data()) % 8, 0U);
}

TEST(CheckedFile, BlocksInsideOfSectionsForLaterAreLeftToCheckContainer) {
  const std::string large(3 * kCheckedFileBlockBytes, 'x');
  const std::string bytes = make_file({"one", large, large, "last"});
  constexpr uint32_t kLater[] = {2};
  const auto opens = [&](const std::string& contents) {
    return CheckedFile::open(memory_view(contents), "test.file", kMagic, 7, kLater).has_value();
  };
  EXPECT_TRUE(opens(bytes));
  EXPECT_TRUE(check_container(MemoryView(bytes), "test.file"));
  // Sections 2 and 3 begin close to the first and the fourth block.
  for (size_t block = 0; block < 6; ++block) {
    std::string damaged = bytes;
    damaged[block * kCheckedFileBlockBytes + kCheckedFileBlockBytes / 2] ^= 1;
    EXPECT_EQ(opens(damaged), block == 1 || block == 2) << "block " << block;
    const auto checked = check_container(MemoryView(damaged), "test.file");
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::DataLoss);
    EXPECT_NE(checked.error().message.find("test.file"), std::string::npos);
  }
  EXPECT_EQ(check_container(MemoryView(bytes), "test.file", [] { return true; }).error().code,
            Code::Interrupted);
  EXPECT_FALSE(check_container(MemoryView(bytes.substr(0, 20)), "test.file"));
}

/// Remembers how each block was said to be read, the last word counting.
class WatchedView final : public base::FileView {
 public:
  explicit WatchedView(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view bytes() const override { return bytes_; }
  void expect(base::ReadPattern pattern, size_t offset, size_t length) const override {
    const size_t end = std::min(bytes_.size(), offset + length);
    for (size_t at = offset; at < end; at += kCheckedFileBlockBytes) {
      said[at / kCheckedFileBlockBytes] = pattern;
    }
  }
  mutable std::map<size_t, base::ReadPattern> said;

 private:
  std::string bytes_;
};

TEST(CheckedFile, WhatIsCheckedAtOnceIsReadAheadAndTheRestAsItIsUsed) {
  using base::ReadPattern;
  const std::string large(3 * kCheckedFileBlockBytes, 'x');
  const auto view = std::make_shared<WatchedView>(make_file({"one", large, large, "last"}));
  constexpr uint32_t kLater[] = {2};
  ASSERT_TRUE(
      CheckedFile::open(view, "test.file", kMagic, 7, kLater, ReadPattern::Singly).has_value());
  const std::map<size_t, ReadPattern> expected = {
      {0, ReadPattern::Soon}, {1, ReadPattern::Singly}, {2, ReadPattern::Singly},
      {3, ReadPattern::Soon}, {4, ReadPattern::Soon},   {5, ReadPattern::Soon},
      {6, ReadPattern::Soon}};
  EXPECT_EQ(view->said, expected);
  ASSERT_TRUE(check_container(*view, "test.file"));
  for (const auto& [block, pattern] : view->said) {
    EXPECT_EQ(pattern, ReadPattern::Soon) << "block " << block;
  }
  // Small files are opened whole: nothing is said of them.
  const auto small = std::make_shared<WatchedView>(make_file({"one"}));
  ASSERT_TRUE(CheckedFile::open(small, "test.file", kMagic, 7).has_value());
  EXPECT_TRUE(small->said.empty());
}

TEST(CheckedFile, EveryFlippedBitIsFoundAndTheFileNamed) {
  const std::string bytes = make_file({"abc", "", std::string(100, 'y')});
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto file = open_bytes(damaged);
      ASSERT_FALSE(file) << "byte " << at << " bit " << bit;
      EXPECT_EQ(file.error().code, Code::DataLoss);
      EXPECT_NE(file.error().message.find("test.file"), std::string::npos);
    }
  }
}

TEST(CheckedFile, EveryCutAndEveryExtraByteIsFound) {
  const std::string bytes = make_file({"abc", std::string(100, 'y')});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(open_bytes(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(open_bytes(bytes + '\0'));
}

TEST(CheckedFile, AnotherVersionIsRefusedInWordsThatSayWhich) {
  const auto file = open_bytes(make_file({"abc"}), 8);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::FailedPrecondition);
  EXPECT_NE(file.error().message.find("version 7"), std::string::npos);
}

TEST(CheckedFile, ErrorsOfTheSinkEndTheWriting) {
  CheckedFileWriter writer(kMagic, 1, {{1, 3}}, [](std::string_view) -> Result<void> {
    return fail(Code::IoError, "full");
  });
  EXPECT_TRUE(writer.append("abc"));
  const auto done = writer.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
}

// A view at an odd address (of an archive, or a fuzzer) must not lead to unaligned numbers.
TEST(CheckedFile, ViewsAtOddAddressesAreCopied) {
  const std::string bytes = "x" + make_file({"12345678"});
  class Odd final : public base::FileView {
   public:
    explicit Odd(std::string held) : held_(std::move(held)) {}
    std::string_view bytes() const override { return std::string_view(held_).substr(1); }

   private:
    std::string held_;
  };
  const auto file = CheckedFile::open(std::make_shared<Odd>(bytes), "odd", kMagic, 7);
  ASSERT_TRUE(file) << file.error().message;
  std::span<const uint64_t> values;
  ASSERT_TRUE(file->array(1, 1, values));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.data()) % alignof(uint64_t), 0U);
  EXPECT_FALSE(file->array(1, 2, values));
}

}  // namespace
}  // namespace sibyl::index
