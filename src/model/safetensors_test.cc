#include "model/safetensors.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file_system.h"
#include "model/internal/float_types.h"

namespace sibyl::model {
namespace {

class TextView final : public base::FileView {
 public:
  explicit TextView(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view bytes() const override { return bytes_; }

 private:
  std::string bytes_;
};

std::string file_of(const std::string& header, const std::string& buffer) {
  std::string out;
  base::put_u64(out, header.size());
  return out + header + buffer;
}

Result<std::shared_ptr<const SafeTensors>> parse(const std::string& bytes) {
  return SafeTensors::parse(std::make_shared<TextView>(bytes), "test");
}

/// The message of a refused file; fails the test when it was read.
std::string refusal(const std::string& header, const std::string& buffer) {
  const auto parsed = parse(file_of(header, buffer));
  if (parsed) {
    ADD_FAILURE() << "was read: " << header;
    return {};
  }
  EXPECT_EQ(parsed.error().code, Code::InvalidData);
  return parsed.error().message;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return '"' + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

TEST(SafeTensors, ReadsEveryType) {
  std::string buffer;
  base::put_f32(buffer, 1.5F);
  buffer += std::string("\x00\x3e", 2);  // F16 1.5
  buffer += std::string("\xc0\x3f", 2);  // BF16 1.5
  const double wide = -2.25;
  buffer.append(reinterpret_cast<const char*>(&wide), sizeof(wide));
  buffer += static_cast<char>(-7);
  buffer += static_cast<char>(200);
  const auto file = parse(file_of(
      "{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F16", "[]", "[4,6]") + "," +
          entry("c", "BF16", "[1,1]", "[6,8]") + "," + entry("d", "F64", "[1]", "[8,16]") + "," +
          entry("e", "I8", "[1]", "[16,17]") + "," + entry("f", "U8", "[1]", "[17,18]") +
          R"(,"__metadata__":{"format":"pt"}}   )",
      buffer));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ((*file)->names().size(), 6U);
  EXPECT_EQ((*file)->metadata().at("format"), "pt");
  EXPECT_EQ((*file)->find("missing"), nullptr);
  const std::map<std::string, float> wanted = {{"a", 1.5F},   {"b", 1.5F},  {"c", 1.5F},
                                               {"d", -2.25F}, {"e", -7.0F}, {"f", 200.0F}};
  for (const auto& [name, value] : wanted) {
    const auto floats = to_floats(*(*file)->find(name));
    ASSERT_TRUE(floats.has_value());
    ASSERT_EQ(floats->size(), 1U) << name;
    EXPECT_EQ(floats->front(), value) << name;
  }
}

// Rank 0 is one value, a length of 0 none; both are legal.
TEST(SafeTensors, ReadsEmptyTensors) {
  const auto file = parse(file_of("{" + entry("none", "F32", "[0,7]", "[0,0]") + "}", ""));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ((*file)->find("none")->elements(), 0U);
  EXPECT_TRUE(parse(file_of("{}", "")).has_value());
}

TEST(SafeTensors, RefusesLyingOffsets) {
  const std::string four(4, 'x');
  EXPECT_NE(refusal("{" + entry("a", "F32", "[1]", "[0,8]") + "}", four).find("data_offsets"),
            std::string::npos);
  EXPECT_NE(refusal("{" + entry("a", "F32", "[1]", "[4,0]") + "}", four).find("'a'"),
            std::string::npos);
  EXPECT_NE(
      refusal("{" + entry("a", "F32", "[1]", "[0,18446744073709551615]") + "}", four).find("'a'"),
      std::string::npos);
  EXPECT_NE(refusal("{" + entry("a", "F32", "[2]", "[0,4]") + "}", four).find("4 bytes do not"),
            std::string::npos);
}

// 2^62 floats are 2^64 bytes, which is 0 in 64 bits.
TEST(SafeTensors, RefusesShapesThatOverflow) {
  EXPECT_NE(refusal("{" + entry("a", "F32", "[4611686018427387904]", "[0,0]") + "}", "")
                .find("do not hold"),
            std::string::npos);
  EXPECT_NE(
      refusal("{" + entry("a", "F32", "[4294967296,4294967296]", "[0,0]") + "}", "").find("'a'"),
      std::string::npos);
}

TEST(SafeTensors, RefusesHolesOverlapsAndTrailingBytes) {
  const std::string a = entry("a", "U8", "[2]", "[0,2]");
  EXPECT_NE(refusal("{" + a + "," + entry("b", "U8", "[1]", "[3,4]") + "}", "wxyz").find("holes"),
            std::string::npos);
  EXPECT_NE(refusal("{" + a + "," + entry("b", "U8", "[2]", "[1,3]") + "}", "xyz").find("'b'"),
            std::string::npos);
  EXPECT_NE(refusal("{" + a + "}", "xyz").find("after the last tensor"), std::string::npos);
}

TEST(SafeTensors, RefusesKeysThatStandTwice) {
  const std::string a = entry("a", "U8", "[0]", "[0,0]");
  EXPECT_NE(refusal("{" + a + "," + a + "}", "").find("twice"), std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"U8","dtype":"F32","shape":[0],"data_offsets":[0,0]}})", "")
                .find("twice"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"__metadata__":{"k":"1","k":"2"}})", "").find("twice"), std::string::npos);
}

TEST(SafeTensors, RefusesWrongHeaders) {
  for (const char* header : {"",
                             " {}",
                             "[]",
                             "{",
                             "{}}",
                             R"({"a":1})",
                             R"({"a":{}})",
                             R"({"a":[1]})",
                             R"({"a":null})",
                             R"({"a":{"dtype":"F32","shape":[1]}})",
                             R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})",
                             R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,0]}})",
                             R"({"a":{"dtype":"F32","shape":[[0]],"data_offsets":[0,0]}})",
                             R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0]}})",
                             R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0,0]}})",
                             R"({"a":{"dtype":"F8_E4M3","shape":[0],"data_offsets":[0,0]}})",
                             R"({"a":{"dtype":7,"shape":[0],"data_offsets":[0,0]}})",
                             R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"more":{}}})",
                             R"({"a":{"dtype":"F32","shape":[1e30],"data_offsets":[0,0]}})",
                             R"({"__metadata__":{"a":1}})",
                             R"({"__metadata__":"x"})",
                             "{\"\xff\":1}"}) {
    const auto parsed = parse(file_of(header, ""));
    EXPECT_FALSE(parsed.has_value()) << header;
  }
}

// A header of nothing but brackets must not use up the stack.
TEST(SafeTensors, RefusesDeepHeaders) {
  EXPECT_FALSE(parse(file_of("{\"a\":" + std::string(1'000'000, '['), "")).has_value());
  std::string objects;
  for (int i = 0; i < 100'000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_FALSE(parse(file_of(objects, "")).has_value());
}

TEST(SafeTensors, RefusesTruncatedFiles) {
  const std::string whole = file_of("{" + entry("a", "F32", "[2]", "[0,8]") + "}", "12345678");
  ASSERT_TRUE(parse(whole).has_value());
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse(whole.substr(0, length)).has_value()) << length;
  }
  std::string zeros(1000, '\0');
  EXPECT_FALSE(parse(zeros).has_value());
  std::string endless;
  base::put_u64(endless, std::numeric_limits<uint64_t>::max());
  EXPECT_NE(parse(endless + "{}").error().message.find("limit"), std::string::npos);
}

TEST(SafeTensors, WritesWhatItReads) {
  const base::TemporaryDirectory folder;
  const std::string path = base::join_path(folder.path(), "model.safetensors");
  const std::vector<NamedTensor> tensors = {
      {"second", {2, 2}, {1, 2, 3, 4}}, {"first", {}, {-0.5F}}, {"none", {0}, {}}};
  ASSERT_TRUE(write_safetensors(path, tensors, {{"format", "pt"}}).has_value());
  const auto file = SafeTensors::open(path);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ((*file)->metadata().at("format"), "pt");
  for (const NamedTensor& tensor : tensors) {
    const TensorView* found = (*file)->find(tensor.name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->shape, tensor.shape);
    EXPECT_EQ(to_floats(*found).value(), tensor.values);
  }
  const std::string bytes = base::read_file(path).value();
  EXPECT_EQ(base::ByteReader(bytes).u64() % 8, 0U);
  EXPECT_FALSE(base::real_file_system().exists(path + ".part"));
}

TEST(SafeTensors, RefusesToWriteWhatItCouldNotRead) {
  const base::TemporaryDirectory folder;
  const std::string path = base::join_path(folder.path(), "model.safetensors");
  EXPECT_FALSE(write_safetensors(path, {{"a", {3}, {1, 2}}}, {}).has_value());
  EXPECT_FALSE(write_safetensors(path, {{"a", {1}, {1}}, {"a", {1}, {1}}}, {}).has_value());
  EXPECT_FALSE(base::real_file_system().exists(path));
  EXPECT_FALSE(write_safetensors("/nowhere/at/all", {{"a", {1}, {1}}}, {}).has_value());
}

TEST(SafeTensors, NamesAMissingFile) {
  const auto file = SafeTensors::open("/nowhere/model.safetensors");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Code::NotFound);
}

TEST(FloatTypes, ConvertHalvesExactly) {
  EXPECT_EQ(float_from_f16(0x0000), 0.0F);
  EXPECT_TRUE(std::signbit(float_from_f16(0x8000)));
  EXPECT_EQ(float_from_f16(0x3C00), 1.0F);
  EXPECT_EQ(float_from_f16(0xC000), -2.0F);
  EXPECT_EQ(float_from_f16(0x7BFF), 65504.0F);
  EXPECT_EQ(float_from_f16(0x0001), 0x1p-24F);
  EXPECT_EQ(float_from_f16(0x83FF), -0x3FFp-24F);
  EXPECT_EQ(float_from_f16(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_f16(0x7E00)));
  EXPECT_EQ(float_from_bf16(0x3F80), 1.0F);
  EXPECT_EQ(float_from_bf16(0xC040), -3.0F);
}

}  // namespace
}  // namespace sibyl::model
