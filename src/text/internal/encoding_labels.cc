#include "text/internal/encoding_labels.h"

#include <algorithm>
#include <string>

namespace sibyl::text {

namespace {

struct Names {
  std::string_view encoding;
  std::string_view labels;  // separated by single spaces
};

// Latin-1 and ASCII mean Windows-1252 on the web, and Latin-5 Windows-1254.
constexpr Names kNames[] = {
    {"utf-8", "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
    {"utf-16le", "utf-16le utf-16 ucs-2 iso-10646-ucs-2 csunicode unicode unicodefeff"},
    {"utf-16be", "utf-16be unicodefffe"},
    {"windows-1252",
     "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 latin1 "
     "l1 ascii us-ascii ansi_x3.4-1968 cp819 ibm819 csisolatin1 iso-ir-100"},
    {"windows-1250", "windows-1250 cp1250 x-cp1250"},
    {"windows-1251", "windows-1251 cp1251 x-cp1251"},
    {"windows-1253", "windows-1253 cp1253 x-cp1253"},
    {"windows-1254",
     "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 latin5 "
     "l5 csisolatin5 iso-ir-148"},
    {"windows-1255", "windows-1255 cp1255 x-cp1255"},
    {"windows-1256", "windows-1256 cp1256 x-cp1256"},
    {"windows-1257", "windows-1257 cp1257 x-cp1257"},
    {"windows-1258", "windows-1258 cp1258 x-cp1258"},
    {"iso-8859-2",
     "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 latin2 l2 csisolatin2 iso-ir-101"},
    {"iso-8859-5",
     "iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 cyrillic csisolatincyrillic "
     "iso-ir-144"},
    {"iso-8859-6",
     "iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 arabic asmo-708 ecma-114 "
     "csisolatinarabic iso-ir-127"},
    {"iso-8859-7",
     "iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 greek greek8 ecma-118 elot_928 "
     "sun_eu_greek csisolatingreek iso-ir-126"},
    {"iso-8859-8",
     "iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 hebrew visual logical iso-8859-8-i "
     "csisolatinhebrew iso-ir-138"},
    {"iso-8859-13", "iso-8859-13 iso8859-13 iso885913"},
    {"iso-8859-15", "iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9"},
    {"koi8-r", "koi8-r koi koi8 koi8_r cskoi8r"},
    {"koi8-u", "koi8-u koi8-ru"},
    {"ibm866", "ibm866 cp866 866 csibm866"},
    {"macintosh", "macintosh mac x-mac-roman csmacintosh"},
    {"gb18030", "gb18030"},
    {"gbk", "gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 x-gbk iso-ir-58 cp936"},
    {"big5", "big5 big5-hkscs cn-big5 csbig5 x-x-big5 cp950"},
    {"shift_jis", "shift_jis shift-jis sjis x-sjis ms_kanji ms932 windows-31j csshiftjis cp932"},
    {"euc-jp", "euc-jp x-euc-jp cseucpkdfmtjapanese"},
    {"iso-2022-jp", "iso-2022-jp csiso2022jp"},
    {"euc-kr",
     "euc-kr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 "
     "csksc56011987 iso-ir-149 cp949"},
};

bool contains_label(std::string_view labels, std::string_view label) {
  while (!labels.empty()) {
    const std::string_view one = labels.substr(0, labels.find(' '));
    if (one == label) {
      return true;
    }
    labels.remove_prefix(std::min(labels.size(), one.size() + 1));
  }
  return false;
}

}  // namespace

std::string_view encoding_of_label(std::string_view label) {
  constexpr std::string_view kTrimmed = " \t\r\n\f\"'";
  const size_t begin = std::min(label.find_first_not_of(kTrimmed), label.size());
  label.remove_prefix(begin);
  label = label.substr(0, label.find_last_not_of(kTrimmed) + 1);
  std::string lower(label);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
  });
  for (const Names& names : kNames) {
    if (contains_label(names.labels, lower)) {
      return names.encoding;
    }
  }
  return {};
}

}  // namespace sibyl::text
