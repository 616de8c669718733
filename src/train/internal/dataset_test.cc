#include "train/internal/dataset.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace sibyl::train {
namespace {

class DatasetFolder : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& content) {
    ASSERT_TRUE(base::replace_file(folder_.path() + "/" + name, content));
  }
  Result<Dataset> read(bool pairs, bool cold) {
    return read_dataset(folder_.path(), {.pairs = pairs, .cold = cold});
  }
  base::TemporaryDirectory folder_;
};

TEST_F(DatasetFolder, ReadsTheFourFiles) {
  put("passages.jsonl", "{\"id\":\"a\",\"text\":\"Tea\"}\n{\"id\":\"b\",\"text\":\"Coffee\"}\n");
  put("pairs.jsonl", "{\"question\":\"leaves?\",\"passages\":[1,0,1]}\n");
  put("cold.jsonl",
      "{\"question\":\"beans\",\"passage\":1,\"text\":\"roasted\"}\n"
      "{\"question\":\"pot\",\"passage\":0}\n");
  put("valid.jsonl", "{\"question\":\"hot?\",\"passages\":[0]}\n");
  const auto data = read(true, true);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->passages, (std::vector<std::string>{"Tea", "Coffee"}));
  EXPECT_EQ(data->pairs[0].passages, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(data->cold[0].text, "roasted");
  EXPECT_FALSE(data->cold[1].text.has_value());
  EXPECT_EQ(data->valid.size(), 1U);
}

TEST_F(DatasetFolder, NamesFileAndLineOfAWrongRow) {
  put("passages.jsonl", "{\"text\":\"Tea\"}\n");
  put("pairs.jsonl",
      "{\"question\":\"a\",\"passages\":[0]}\n{\"question\":\"b\",\"passages\":[7]}\n");
  const auto data = read(true, false);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Code::InvalidData);
  EXPECT_NE(data.error().message.find("pairs.jsonl line 2"), std::string::npos);
  EXPECT_NE(data.error().message.find('7'), std::string::npos);
}

TEST_F(DatasetFolder, HostileRowsAreErrors) {
  put("passages.jsonl", "{\"text\":\"Tea\"}\n");
  for (const std::string& row :
       {std::string("{\"question\":\"a\",\"passages\":[-1]}"),
        std::string("{\"question\":\"a\",\"passages\":[18446744073709551615]}"),
        std::string("{\"question\":\"a\",\"passages\":[0.5]}"),
        std::string("{\"question\":\"a\",\"passages\":[]}"),
        std::string("{\"question\":\"a\",\"passages\":{}}"), std::string("{\"passages\":[0]}"),
        std::string("[1]"), std::string("{"), std::string(4096, '\0'), std::string("\xff\xfe")}) {
    put("pairs.jsonl", row + "\n");
    EXPECT_FALSE(read(true, false)) << row;
  }
}

TEST_F(DatasetFolder, AFileThatIsNeededMustBeThereAndHoldARow) {
  put("passages.jsonl", "{\"text\":\"Tea\"}\n");
  EXPECT_EQ(read(true, false).error().code, Code::NotFound);
  put("cold.jsonl", "");
  EXPECT_EQ(read(false, true).error().code, Code::InvalidData);
  EXPECT_TRUE(read(false, false));
}

TEST(NormalizedText, IgnoresCaseAndWhiteSpace) {
  EXPECT_EQ(normalized_text("  Hot\n\tTEA  now "), "hot tea now");
  EXPECT_EQ(normalized_text(""), "");
}

TEST(DatasetFingerprint, ChangesWithEverythingThatIsTrainedOn) {
  const Dataset data{.passages = {"tea", "coffee"},
                     .pairs = {{"leaves?", {0}}},
                     .cold = {{"beans", 1, "roasted"}},
                     .valid = {{"hot?", {0, 1}}}};
  const std::string job = "{}";
  EXPECT_EQ(fingerprint(job, data), fingerprint(job, Dataset(data)));
  std::set<std::string> seen = {fingerprint(job, data), fingerprint("{ }", data)};
  const auto changed = [&](const auto& change) {
    Dataset other = data;
    change(other);
    seen.insert(fingerprint(job, other));
  };
  changed([](Dataset& other) { other.passages = {"teac", "offee"}; });
  changed([](Dataset& other) { other.pairs[0].question = "leaf?"; });
  changed([](Dataset& other) { other.pairs[0].passages = {1}; });
  changed([](Dataset& other) { other.cold[0].question = "bean"; });
  changed([](Dataset& other) { other.cold[0].passage = 0; });
  changed([](Dataset& other) { other.cold[0].text = "ground"; });
  changed([](Dataset& other) { other.cold[0].text = ""; });
  changed([](Dataset& other) { other.cold[0].text.reset(); });
  changed([](Dataset& other) { other.valid[0].passages = {0}; });
  changed([](Dataset& other) { std::swap(other.pairs, other.valid); });
  EXPECT_EQ(seen.size(), 12U);
}

}  // namespace
}  // namespace sibyl::train
