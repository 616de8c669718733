#include "base/json.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/json_access.h"
#include "base/json_rows.h"
#include "base/json_writer.h"

namespace sibyl::base {
namespace {

TEST(ParseJson, KeepsKeysInOrderAndTheLastOfDuplicates) {
  EXPECT_EQ(dump_json(*parse_json(R"({"b":1,"a":2,"b":3})")), R"({"b":3,"a":2})");
  std::string many = "{";
  for (int i = 0; i < 100; ++i) {
    many += fmt::format("\"k{}\":{},", i % 50, i);
  }
  many.back() = '}';
  const auto value = parse_json(many);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 50U);
  EXPECT_EQ((*value)["k0"], 50);
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const auto value = parse_json(R"([null,true,-1,18446744073709551615,1.5,"\u00e9",{"a":[]}])");
  ASSERT_TRUE(value);
  EXPECT_EQ(dump_json(*value), R"([null,true,-1,18446744073709551615,1.5,"é",{"a":[]}])");
}

// Tokenizer files hold such numbers ("model_max_length").
TEST(ParseJson, IntegersOver64BitsBecomeFloatingPoint) {
  const auto value = parse_json("1000000000000000019884624838656");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_DOUBLE_EQ(value->get<double>(), 1e30);
}

TEST(ParseJson, SaysWhereItIsWrong) {
  const auto value = parse_json("{\n  \"a\": 1,\n  \"b\" 2\n}", "job.json");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::InvalidData);
  EXPECT_NE(value.error().message.find("job.json: not valid JSON at line 3"), std::string::npos)
      << value.error().message;
}

TEST(ParseJson, IsStrict) {
  for (const std::string_view wrong :
       {"", "  ", "{", "[1,]", "{'a':1}", "nul", "01", "1 2", "\"\x80\"", "\"\xED\xA0\x80\"",
        "\"a\nb\"", "\"\\ud800\"", "[1]x", "NaN", "1e400", "{\"a\":1,}"}) {
    EXPECT_FALSE(parse_json(wrong)) << wrong;
  }
}

TEST(ParseJson, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(*parse_json("\xEF\xBB\xBF[1]"), Json({1}));
}

TEST(ParseJson, DepthIsBoundedExactly) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(kJsonDepthMax)));
  EXPECT_FALSE(parse_json(nested(kJsonDepthMax + 1)));
  EXPECT_FALSE(parse_json(nested(1'000'000)));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
}

TEST(JsonFields, GivesValuesAndDefaults) {
  const Json object = *parse_json(R"({"name":"x","n":3,"f":0.5,"on":true,"tags":["a"],"o":{}})");
  JsonFields fields(object);
  EXPECT_EQ(fields.text("name"), "x");
  EXPECT_EQ(fields.integer("n", 0, 1, 5), 3);
  EXPECT_EQ(fields.number("f", 0, 0, 1), 0.5);
  EXPECT_TRUE(fields.boolean("on", false));
  EXPECT_EQ(fields.texts("tags"), std::vector<std::string>{"a"});
  EXPECT_NE(fields.object("o"), nullptr);
  EXPECT_EQ(fields.text("missing", "default"), "default");
  EXPECT_TRUE(fields.finish());
}

TEST(JsonFields, ErrorsNameFieldValueAndWhatIsRight) {
  const Json object = *parse_json(R"({"epochs":0})");
  JsonFields fields(object, "train", Code::InvalidConfig);
  fields.integer("epochs", 1, 1, 100);
  const auto done = fields.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::InvalidConfig);
  EXPECT_EQ(done.error().field, "train.epochs");
  EXPECT_EQ(done.error().message, "train.epochs is 0; must be a whole number from 1 to 100");
}

TEST(JsonFields, WrongTypesAreNeverConverted) {
  const Json object =
      *parse_json(R"({"a":"3","b":1.5,"c":"true","d":[1],"e":18446744073709551615})");
  for (const int which : {0, 1, 2, 3, 4}) {
    JsonFields fields(object);
    const char* const keys[] = {"a", "b", "c", "d", "e"};
    which == 2   ? static_cast<void>(fields.boolean("c", false))
    : which == 3 ? static_cast<void>(fields.texts("d"))
                 : static_cast<void>(fields.integer(keys[which], 0, 0, INT64_MAX));
    const auto done = fields.finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().field, keys[which]);
  }
}

TEST(JsonFields, AnUnknownKeyIsRefusedWithTheNearestName) {
  const Json object = *parse_json(R"({"epoch":3})");
  JsonFields fields(object, "train");
  fields.integer("epochs", 1, 1, 10);
  fields.number("scale", 1, 1, 10);
  const auto done = fields.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "train.epoch is not known; did you mean 'epochs'?");
}

TEST(JsonFields, WhatIsNoObjectIsRefused) {
  const Json list = Json::array();
  JsonFields fields(list);
  EXPECT_EQ(fields.text("a"), "");
  EXPECT_FALSE(fields.has("a"));
  EXPECT_FALSE(fields.finish());
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("quesion", {"answer", "question"}), "question");
  EXPECT_EQ(nearest_name("zzzzzz", {"answer", "question"}), "");
  EXPECT_EQ(nearest_name("ab", {"xyz"}), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'a'), {"a"}), "");
}

TEST(JsonAccess, OddValuesAreNone) {
  const Json value = *parse_json(R"({"t":"x","n":2,"b":true,"z":null,"l":[1]})");
  EXPECT_EQ(text_at(value, "t"), "x");
  EXPECT_EQ(text_at(value, "n"), "");
  EXPECT_EQ(text_at(Json(3), "t"), "");
  EXPECT_EQ(number_at(value, "n"), 2);
  EXPECT_EQ(number_at(value, "z", 7), 7);
  EXPECT_TRUE(flag_at(value, "b"));
  EXPECT_FALSE(flag_at(value, "missing"));
  EXPECT_EQ(shown_at(value, "l"), "[1]");
  EXPECT_EQ(shown_at(value, "z"), "");
  EXPECT_TRUE(value_at(value_at(value, "missing"), "deeper").is_null());
}

TEST(SplitJsonRows, SplitsAnArrayByItsBytes) {
  const auto rows = split_json_rows(R"( [ {"a":"],\"}"} , [1,2] ,"x", 3 ] )", 10);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[0].text, R"({"a":"],\"}"})");
  EXPECT_EQ((*rows)[1].text, "[1,2]");
  EXPECT_EQ((*rows)[3].text, "3");
  EXPECT_EQ((*rows)[3].line, 4U);
  EXPECT_TRUE(split_json_rows("[]", 10)->empty());
}

TEST(SplitJsonRows, SplitsLinesAndKeepsTheirNumbers) {
  const auto rows = split_json_rows("{\"a\":1}\r\n\n  \nwrong\n", 10);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].text, "{\"a\":1}");
  EXPECT_EQ((*rows)[1].line, 4U);
  EXPECT_EQ((*rows)[1].text, "wrong");
}

TEST(SplitJsonRows, RefusesWhatCannotBeSplit) {
  for (const std::string_view wrong :
       {"[", "[1", "[1,", "[1,]", "[1 2]", "[{]", "[\"a]", "[1]x", "[,1]", "[}]"}) {
    EXPECT_FALSE(split_json_rows(wrong, 10)) << wrong;
  }
  EXPECT_FALSE(split_json_rows("[" + std::string(1000, '['), 10));
  EXPECT_EQ(split_json_rows("1\n2\n3", 2).error().code, Code::TooLarge);
  EXPECT_EQ(split_json_rows("[1,2,3]", 2).error().code, Code::TooLarge);
}

TEST(JsonWriter, PutsCommasAndEscapes) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("a\"").text("tab\t\x01 é \xFF");
  json.key("list").begin_array().integer(1).boolean(false).null().raw("{}").end_array();
  json.key("none").begin_array().end_array();
  json.key("f").floats(std::vector<float>{0.1F, 1.0F}).end_object();
  EXPECT_EQ(out,
            "{\"a\\\"\":\"tab\\t\\u0001 é \xEF\xBF\xBD\",\"list\":[1,false,null,{}],\"none\":[],"
            "\"f\":[0.1,1]}");
  EXPECT_TRUE(parse_json(out));
}

TEST(JsonWriter, NumbersAreShortestAndNeverInvalid) {
  std::string out;
  JsonWriter json(out);
  json.begin_array().number(0.1).number(0.1F).number(1e300).number(std::nan(""));
  json.number(std::numeric_limits<double>::infinity()).end_array();
  EXPECT_EQ(out, "[0.1,0.1,1e+300,null,null]");
}

}  // namespace
}  // namespace sibyl::base
