#include "net/sha256.h"

#include <string>

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace sibyl::net {
namespace {

// The examples of FIPS 180-2 appendix B.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// More than one update call must not change the digest.
TEST(Sha256, TakesMoreBytesThanOnePiece) {
  EXPECT_EQ(sha256_hex(std::string((size_t{1} << 24) + 1, '\0')),
            "1003b1b5dc078189799a1216ce0f9fbcebb94e8b6b83c58c4b03345f07f94ced");
}

TEST(Sha256, ReadsAFile) {
  const base::TemporaryDirectory folder;
  const std::string path = base::join_path(folder.path(), "abc.txt");
  ASSERT_TRUE(base::replace_file(path, "abc").has_value());
  const auto digest = sha256_file(path);
  ASSERT_TRUE(digest.has_value()) << digest.error().message;
  EXPECT_EQ(*digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, NamesAFileThatIsNotThere) {
  const auto digest = sha256_file("/nowhere/at/all");
  ASSERT_FALSE(digest.has_value());
  EXPECT_EQ(digest.error().code, Code::NotFound);
  EXPECT_NE(digest.error().message.find("/nowhere/at/all"), std::string::npos);
}

TEST(EqualConstantTime, ComparesWholeSecrets) {
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_TRUE(equal_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_constant_time("secret", "secret1"));
  EXPECT_FALSE(equal_constant_time("", "a"));
}

}  // namespace
}  // namespace sibyl::net
