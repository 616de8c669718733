#include "base/bytes.h"

#include <limits>

#include <gtest/gtest.h>

namespace sibyl::base {
namespace {

TEST(Bytes, WhatIsPutIsReadBack) {
  std::string out;
  put_u32(out, 0xDEADBEEF);
  put_u64(out, std::numeric_limits<uint64_t>::max() - 1);
  put_f32(out, -1.5F);
  put_varint(out, 0);
  put_varint(out, 127);
  put_varint(out, 128);
  put_varint(out, std::numeric_limits<uint64_t>::max());
  put_text(out, "dépôt");
  ByteReader reader(out);
  EXPECT_EQ(reader.u32(), 0xDEADBEEF);
  EXPECT_EQ(reader.u64(), std::numeric_limits<uint64_t>::max() - 1);
  EXPECT_EQ(reader.f32(), -1.5F);
  EXPECT_EQ(reader.varint(), 0U);
  EXPECT_EQ(reader.varint(), 127U);
  EXPECT_EQ(reader.varint(), 128U);
  EXPECT_EQ(reader.varint(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(reader.text(), "dépôt");
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.left(), 0U);
}

TEST(Bytes, NumbersAreLittleEndian) {
  std::string out;
  put_u32(out, 0x01020304);
  EXPECT_EQ(to_hex(out), "04030201");
}

TEST(ByteReader, EveryReadAfterTheEndGivesNothing) {
  ByteReader reader(std::string_view("\x01\x02", 2));
  EXPECT_EQ(reader.u32(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0U);  // though a byte is left: the first failure is final
  EXPECT_TRUE(reader.text().empty());
}

TEST(ByteReader, ATextLongerThanTheRestIsRefused) {
  std::string out;
  put_varint(out, std::numeric_limits<uint64_t>::max());
  out += "abc";
  ByteReader reader(out);
  EXPECT_TRUE(reader.text().empty());
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, AVarintOfMoreThan64BitsIsRefused) {
  ByteReader endless(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12));
  endless.varint();
  EXPECT_FALSE(endless.ok());
  ByteReader overflow(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10));
  overflow.varint();
  EXPECT_FALSE(overflow.ok());
}

TEST(Crc32, IsTheOneOfIeee) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926U);
  EXPECT_EQ(crc32(""), 0U);
}

// Reference values of XXH64 (xxHash 0.8).
TEST(Hash64, AgreesWithTheReferenceValues) {
  EXPECT_EQ(hash64(""), 0xEF46DB3751D8E999ULL);
  EXPECT_EQ(hash64("a"), 0xD24EC4F1A98C6E5BULL);
  EXPECT_EQ(hash64("abc"), 0x44BC2CF5AD770999ULL);
  EXPECT_NE(hash64("abc", 1), hash64("abc"));
  EXPECT_NE(hash64(std::string(100, 'x')), hash64(std::string(101, 'x')));
}

TEST(Base64, PadsAsRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\xFF\xFE\x00", 3)), "//4A");
}

}  // namespace
}  // namespace sibyl::base
