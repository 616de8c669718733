#include "server/internal/form_body.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

using Fields = std::map<std::string, std::string>;
constexpr const char* kMultipart = "Multipart/Form-Data; charset=utf-8; boundary=\"a b\"";

TEST(FormBody, ContentTypesOfFormsAreKnown) {
  EXPECT_TRUE(is_form("application/x-www-form-urlencoded"));
  EXPECT_TRUE(is_form("Application/X-WWW-form-urlencoded; charset=utf-8"));
  EXPECT_TRUE(is_form(kMultipart));
  EXPECT_FALSE(is_form("application/json"));
  EXPECT_FALSE(is_form(""));
}

TEST(FormBody, UrlEncodedPairsAreDecoded) {
  EXPECT_EQ(parse_form("application/x-www-form-urlencoded", "a=1+2&b=%26&a=3&c").value(),
            (Fields{{"a", "3"}, {"b", "&"}, {"c", ""}}));
  EXPECT_FALSE(parse_form("application/x-www-form-urlencoded", "a=%2"));
}

TEST(FormBody, PartsAreTakenApart) {
  const std::string body =
      "a preamble\r\n--a b\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; "
      "filename=\"x\"; name=\"json\"\r\n\r\n{\"a\":\r\n1}\r\n--a b\r\nContent-Disposition: "
      "form-data; name=empty\r\n\r\n\r\n--a b--\r\nan epilogue";
  EXPECT_EQ(parse_form(kMultipart, body).value(),
            (Fields{{"json", "{\"a\":\r\n1}"}, {"empty", ""}}));
}

TEST(FormBody, BrokenPartsAreRefused) {
  const std::string part = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1";
  for (const std::string& body :
       {std::string(), std::string("nothing"), std::string("--x"), std::string("--x\r\n"), part,
        part + "\r\n--", part + "\r\n--x\r\n", std::string("--x\r\nno headers\r\n--x--")}) {
    EXPECT_FALSE(parse_form("multipart/form-data; boundary=x", body)) << body;
  }
  EXPECT_FALSE(parse_form("multipart/form-data", part + "\r\n--x--"));
  EXPECT_FALSE(parse_form("multipart/form-data; boundary=", part + "\r\n--x--"));
  EXPECT_FALSE(
      parse_form("multipart/form-data; boundary=" + std::string(71, 'x'), part + "\r\n--x--"));
  std::string many;
  for (size_t i = 0; i <= kFormFieldsMax; ++i) {
    many += part + "\r\n";
  }
  EXPECT_FALSE(parse_form("multipart/form-data; boundary=x", many + "--x--"));
}

}  // namespace
}  // namespace sibyl::server
