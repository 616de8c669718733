#include "server/internal/model_samples.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file_system.h"

namespace sibyl::server {
namespace {

const SampleMap kSamples = {{"desk@3", {{0.5F, -0.25F}, true}}, {"desk@4", {{1.0F}, false}}};

std::string sealed(std::string content) {
  base::put_u32(content, base::crc32(content));
  return content;
}

TEST(ModelSamples, AreThereAfterARestart) {
  const base::TemporaryDirectory folder;
  const std::string path = folder.path() + "/model-samples";
  {
    const auto samples = *ModelSamples::open(path);
    EXPECT_FALSE(samples->find("desk@3"));
    ASSERT_TRUE(samples->put("desk@3", {{0.25F}, false}));
    ASSERT_TRUE(samples->put("desk@3", {{0.5F, -0.25F}, true}));
  }
  const auto again = *ModelSamples::open(path);
  const auto found = again->find("desk@3");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->vector, (std::vector<float>{0.5F, -0.25F}));
  EXPECT_TRUE(found->is_served);
}

TEST(ModelSamples, AChangedOrCutFileIsRefusedByName) {
  const base::TemporaryDirectory folder;
  const std::string path = folder.path() + "/model-samples";
  const std::string bytes = encode_samples(kSamples);
  ASSERT_EQ(decode_samples(bytes, path)->size(), 2U);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_EQ(decode_samples(changed, path).error().code, Code::DataLoss) << at;
    EXPECT_EQ(decode_samples(bytes.substr(0, at), path).error().code, Code::DataLoss) << at;
  }
  ASSERT_TRUE(base::replace_file(path, bytes.substr(1)));
  const auto opened = ModelSamples::open(path);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find(path), std::string::npos);
}

TEST(ModelSamples, HostileFilesWithARightChecksumAreRefused) {
  std::string head = "SIBYLSMP";
  base::put_u32(head, 1);
  std::string many = head;
  base::put_u32(many, 0xFFFFFFFF);
  std::string wide = head;
  base::put_u32(wide, 1);
  base::put_text(wide, "desk@3");
  wide += '\1';
  base::put_u32(wide, 0xFFFFFFFF);
  std::string odd = head;
  base::put_u32(odd, 1);
  base::put_text(odd, "desk@3");
  odd += '\1';
  base::put_u32(odd, 1);
  base::put_u32(odd, 0x7FC00000);  // not a number
  std::string newer = "SIBYLSMP";
  base::put_u32(newer, 2);
  base::put_u32(newer, 0);
  for (const std::string& content : {head, many, wide, odd, newer, std::string("SIBYLSMP")}) {
    EXPECT_EQ(decode_samples(sealed(content), "x").error().code, Code::DataLoss);
  }
}

TEST(ModelSamples, OneModelOnTwoMachinesIsTheSameAndAnotherIsNot) {
  EXPECT_TRUE(is_same_sample({0.5F, 0.25F}, {0.5005F, 0.25F}));
  EXPECT_FALSE(is_same_sample({0.5F, 0.25F}, {0.5F, 0.26F}));
  EXPECT_FALSE(is_same_sample({0.5F}, {0.5F, 0.0F}));
}

}  // namespace
}  // namespace sibyl::server
