#include "base/yaml.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::base {
namespace {

std::string json_of(std::string_view yaml) {
  const auto value = parse_yaml(yaml, nullptr);
  return value ? dump_json(*value) : "error: " + value.error().message;
}

TEST(ParseYaml, ReadsTheCoreSchema) {
  EXPECT_EQ(json_of("a: 1\nb: -0.5\nc: true\nd: ~\ne: text\nf: \"1\"\ng: [1, x]\nh: {}\n"),
            R"({"a":1,"b":-0.5,"c":true,"d":null,"e":"text","f":"1","g":[1,"x"],"h":{}})");
  EXPECT_EQ(json_of("[0x1F, 0o17, 1e3, +5, .5, 5., yes, no, 0x, 1_000, 5e-5]"),
            R"([31,15,1000.0,5,0.5,5.0,"yes","no","0x","1_000",5e-05])");
  EXPECT_EQ(json_of(""), "null");
}

TEST(ParseYaml, JsonIsYaml) {
  EXPECT_EQ(json_of(R"({"kind": "supervised", "train": {"epochs": 2}})"),
            R"({"kind":"supervised","train":{"epochs":2}})");
}

TEST(ParseYaml, KnowsTheLineOfEveryKey) {
  YamlLines lines;
  ASSERT_TRUE(
      parse_yaml("# a job\nkind: supervised\ntrain:\n  epochs: 2\n  list:\n    - a: 1\n", &lines));
  EXPECT_EQ(lines["kind"], 2U);
  EXPECT_EQ(lines["train"], 3U);
  EXPECT_EQ(lines["train.epochs"], 4U);
  EXPECT_EQ(lines["train.list.0.a"], 6U);
}

TEST(ParseYaml, RefusesWithTheLine) {
  EXPECT_EQ(json_of("a: 1\nb: 2\na: 3\n"), "error: line 3: the key 'a' stands here twice");
  EXPECT_TRUE(json_of("a: &x 1\nb: *x\n").starts_with("error: line 1: anchors"));
  EXPECT_TRUE(json_of("a: !!python/object:os.system x\n").starts_with("error: line 1: the tag"));
  EXPECT_TRUE(json_of("a: [1, 2\nb: 3\n").starts_with("error: line "));
  EXPECT_TRUE(json_of("a: 1\n---\nb: 2\n").starts_with("error: the file holds a second"));
  EXPECT_TRUE(json_of("a: 1\nb: \xFF\n").starts_with("error: line 2: byte 0xff"));
  EXPECT_TRUE(json_of("? [a]\n: 1\n").starts_with("error: line 1: a key must be"));
  EXPECT_TRUE(json_of("a: 1e999\n").starts_with("error: line 1: the number"));
}

TEST(ParseYaml, DepthAndSizeAreBounded) {
  EXPECT_TRUE(json_of(std::string(100'000, '[')).starts_with("error: "));
  EXPECT_TRUE(json_of(std::string(100, '[') + std::string(100, ']')).starts_with("error: line 1"));
  EXPECT_TRUE(json_of(std::string(2 << 20, ' ')).starts_with("error: YAML of"));
}

}  // namespace
}  // namespace sibyl::base
