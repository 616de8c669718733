#include <gtest/gtest.h>

#include "net/http_client.h"

namespace sibyl::net {
namespace {

TEST(Uri, EncodesEverythingButUnreservedCharacters) {
  EXPECT_EQ(encode_uri_part("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(encode_uri_part("faq/a b#1?&=%+"), "faq%2Fa%20b%231%3F%26%3D%25%2B");
  EXPECT_EQ(encode_uri_part("\xC3\xA9"), "%C3%A9");
  EXPECT_EQ(encode_uri_part(std::string_view("\0\n", 2)), "%00%0A");
}

TEST(Uri, EveryByteComesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all.push_back(static_cast<char>(byte));
  }
  EXPECT_EQ(decode_uri_part(encode_uri_part(all)).value(), all);
}

// A plus is a plus in a path; only query strings read it as a space.
TEST(Uri, PlusIsNotASpace) {
  EXPECT_EQ(decode_uri_part("a+b").value(), "a+b");
}

TEST(Uri, BrokenEscapesAreNamedByPosition) {
  for (const std::string_view broken : {"ab%", "ab%2", "ab%G0", "ab%0G", "ab%%2"}) {
    const auto decoded = decode_uri_part(broken);
    ASSERT_FALSE(decoded) << broken;
    EXPECT_EQ(decoded.error().code, Code::InvalidArgument);
    EXPECT_NE(decoded.error().message.find("position 3"), std::string::npos);
  }
}

}  // namespace
}  // namespace sibyl::net
