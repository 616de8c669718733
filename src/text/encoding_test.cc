#include "text/encoding.h"

#include <string>

#include <gtest/gtest.h>

namespace sibyl::text {
namespace {

using namespace std::string_literals;

void expect_text(std::string_view bytes, std::string_view declared, std::string_view utf8,
                 std::string_view encoding, bool guessed = false) {
  const auto text = decode_text(bytes, declared);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->utf8, utf8);
  EXPECT_EQ(text->encoding, encoding);
  EXPECT_EQ(text->guessed, guessed);
}

TEST(Encoding, MarksCountFirst) {
  expect_text("\xEF\xBB\xBFhé", "windows-1252", "hé", "utf-8");
  expect_text("\xFF\xFEh\0\xE9\0"s, "", "hé", "utf-16le");
  expect_text("\xFE\xFF\0h\xD8\x3D\xDE\x00"s, "", "h😀", "utf-16be");
  expect_text("\xFF\xFE\0\0h\0\0\0"s, "", "h", "utf-32le");
}

TEST(Encoding, ValidUtf8BeatsWhatIsDeclared) {
  expect_text("café", "iso-8859-1", "café", "utf-8");
  expect_text("plain", "utf-16", "plain", "utf-8");
  expect_text("", "", "", "utf-8");
}

TEST(Encoding, DeclaredLabelsMeanWhatTheWebMeans) {
  expect_text("caf\xE9 \x80", "ISO-8859-1", "café €", "windows-1252");
  expect_text(
      "\xA3\xF3"
      "d\xBC",
      " \"latin2\" ", "Łódź", "iso-8859-2");
  expect_text("\xCC\xEE\xF1\xEA\xE2\xE0", "cp1251", "Москва", "windows-1251");
  expect_text("\xED\xCF\xD3\xCB\xD7\xC1", "koi8-r", "Москва", "koi8-r");
  expect_text("\xE1\xE8\xDE\xED\xE1", "windows-1253", "αθήνα", "windows-1253");
  expect_text("\xFDstanbul \xFE", "iso-8859-9", "ıstanbul ş", "windows-1254");
  expect_text("10 \xA4", "iso-8859-15", "10 €", "iso-8859-15");
  expect_text("h\0i\0\xE9\0"s, "utf-16", "hié", "utf-16le");
}

TEST(Encoding, EastAsianOnes) {
  expect_text("\xB1\xB1\xBE\xA9", "gb2312", "北京", "gbk");
  expect_text("\xA5\x5F\xA8\xCA", "big5", "北京", "big5");
  expect_text("\x93\x8C\x8B\x9E", "Shift_JIS", "東京", "shift_jis");
  expect_text("\xC5\xEC\xB5\xFE", "euc-jp", "東京", "euc-jp");
  expect_text("\xBC\xAD\xBF\xEF", "euc-kr", "서울", "euc-kr");
  expect_text("\x1B$BEl5~\x1B(B", "iso-2022-jp", "東京", "iso-2022-jp");
  expect_text("\xB1\xB1\xBE", "gbk", "北\uFFFD", "gbk");
}

TEST(Encoding, WithoutAWordItIsGuessed) {
  expect_text("caf\xE9 \x93quoted\x94", "", "café “quoted”", "windows-1252", true);
  expect_text("caf\xE9", "no-such-label", "café", "windows-1252", true);
  expect_text("h\0e\0l\0l\0o\0"s, "", "hello", "utf-16le", true);
  // One broken place does not turn a UTF-8 text into nonsense.
  expect_text("größer schöner äöü \xC3", "", "größer schöner äöü \uFFFD", "utf-8", true);
}

void expect_binary(const std::string& bytes, std::string_view part) {
  const auto text = decode_text(bytes);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Code::InvalidData);
  EXPECT_NE(text.error().message.find(part), std::string::npos) << text.error().message;
}

TEST(Encoding, BinariesAreRefusedByWhatTheyAre) {
  expect_binary(std::string(1000, '\0'), "all 1000 bytes are zero");
  expect_binary("%PDF-1.7\n...", "PDF");
  expect_binary("PK\3\4....", "ZIP");
  expect_binary("\x1F\x8B\x08 abc", "gzip");
  std::string noise;
  for (int i = 0; i < 4096; ++i) {
    noise += static_cast<char>((i * 7919 + i / 3) % 256);
  }
  expect_binary(noise, "not text");
  expect_binary("\xFF\xFE\0\0\0\0\0\0\0\0"s, "");
}

TEST(Encoding, EveryLabelOfOneByteDecodesEveryByte) {
  std::string bytes = "text ";
  for (int byte = 0xA0; byte < 0x100; ++byte) {
    bytes += static_cast<char>(byte);
  }
  for (const char* label :
       {"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
        "windows-1255", "windows-1256", "windows-1257", "windows-1258", "iso-8859-2",
        "iso-8859-5",   "iso-8859-6",   "iso-8859-7",   "iso-8859-8",   "iso-8859-13",
        "iso-8859-15",  "koi8-r",       "koi8-u",       "ibm866",       "macintosh"}) {
    const auto text = decode_text(bytes, label);
    ASSERT_TRUE(text) << label;
    EXPECT_EQ(text->encoding, label);
    EXPECT_EQ(text->utf8.substr(0, 5), "text ");
  }
}

}  // namespace
}  // namespace sibyl::text
