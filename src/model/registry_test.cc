#include "model/registry.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace sibyl::model {
namespace {

std::string fixture(const std::string& name) {
  return std::string(SIBYL_TEST_DATA) + "/model/" + name;
}

class RegistryTest : public testing::Test {
 protected:
  std::unique_ptr<Registry> open() {
    auto opened = Registry::open(folder_.path() + "/models");
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return std::move(*opened);
  }
  base::TemporaryDirectory folder_;
};

TEST_F(RegistryTest, NumbersVersionsAndKeepsThemOverRestarts) {
  auto registry = open();
  EXPECT_TRUE(registry->list().empty());
  EXPECT_FALSE(registry->default_name().has_value());
  const auto first = registry->import(fixture("bert"), "small");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->version, 1U);
  EXPECT_EQ(first->kind, "transformer");
  EXPECT_EQ(first->dimension, 16U);
  EXPECT_TRUE(first->is_default);
  EXPECT_GT(first->bytes, 20'000U);
  ASSERT_EQ(registry->import(fixture("static"), "table")->version, 1U);
  EXPECT_EQ(registry->import(fixture("bert-dense"), "small")->version, 2U);

  registry = open();
  EXPECT_EQ(registry->list().size(), 3U);
  EXPECT_EQ(registry->default_name(), "small");
  EXPECT_EQ(registry->find("")->version, 2U);
  EXPECT_EQ(registry->find("small")->dimension, 8U);
  EXPECT_EQ(registry->find("small@1")->dimension, 16U);
  EXPECT_EQ(registry->find("table")->kind, "static");
  EXPECT_EQ(registry->find("table")->provenance.version, "1");
  EXPECT_TRUE(read_model_directory(registry->find("small@1")->path).has_value());
}

// A collection keeps the version of its vectors; a number given again would mix two models.
TEST_F(RegistryTest, NeverGivesAVersionTwice) {
  auto registry = open();
  ASSERT_TRUE(registry->import(fixture("bert"), "small").has_value());
  ASSERT_TRUE(registry->import(fixture("bert"), "small").has_value());
  ASSERT_TRUE(registry->remove("small@2").has_value());
  EXPECT_EQ(registry->find("small")->version, 1U);
  ASSERT_TRUE(registry->remove("small").has_value());
  EXPECT_FALSE(registry->default_name().has_value());
  EXPECT_TRUE(registry->list().empty());
  registry = open();
  EXPECT_EQ(registry->import(fixture("bert"), "small")->version, 3U);
}

TEST_F(RegistryTest, SetsTheDefault) {
  auto registry = open();
  ASSERT_TRUE(registry->import(fixture("bert"), "one").has_value());
  ASSERT_TRUE(registry->import(fixture("static"), "two").has_value());
  ASSERT_TRUE(registry->set_default("two").has_value());
  EXPECT_EQ(registry->find("")->name, "two");
  EXPECT_FALSE(registry->find("one")->is_default);
  EXPECT_EQ(registry->set_default("three").error().code, Code::NotFound);
  registry = open();
  EXPECT_EQ(registry->default_name(), "two");
}

TEST_F(RegistryTest, NamesWhatThereIs) {
  auto registry = open();
  EXPECT_EQ(registry->find("").error().code, Code::NotFound);
  ASSERT_TRUE(registry->import(fixture("bert"), "small").has_value());
  const auto missing = registry->find("smal");
  EXPECT_EQ(missing.error().code, Code::NotFound);
  EXPECT_NE(missing.error().message.find("small"), std::string::npos);
  EXPECT_NE(registry->find("small@7").error().message.find("there are: 1"), std::string::npos);
  for (const char* wrong : {"small@", "small@0", "small@01", "small@x", "small@-1",
                            "small@99999999999", "../small", "a/b", "A"}) {
    EXPECT_EQ(registry->find(wrong).error().code, Code::InvalidArgument) << wrong;
  }
}

TEST_F(RegistryTest, RefusesWrongNamesAndWrongModels) {
  auto registry = open();
  for (const std::string& name :
       {std::string(), std::string("default"), std::string(".."), std::string("A"),
        std::string("a b"), std::string("a@1"), std::string("-a"), std::string(65, 'a')}) {
    EXPECT_EQ(registry->import(fixture("bert"), name).error().code, Code::InvalidArgument) << name;
  }
  EXPECT_EQ(registry->import("/nowhere/model", "a").error().code, Code::NotFound);
  const base::TemporaryDirectory empty;
  const auto refused = registry->import(empty.path(), "a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find(empty.path()), std::string::npos);
  EXPECT_TRUE(registry->list().empty());
  EXPECT_EQ(registry->import(fixture("bert"), "a")->version, 1U);
}

TEST_F(RegistryTest, ExportsWhatReadsAgain) {
  auto registry = open();
  ASSERT_TRUE(registry->import(fixture("bert"), "small").has_value());
  const std::string out = folder_.path() + "/out";
  ASSERT_TRUE(registry->export_to("small", out).has_value());
  EXPECT_TRUE(read_model_directory(out).has_value());
  EXPECT_EQ(registry->export_to("small", out).error().code, Code::AlreadyExists);
  EXPECT_EQ(registry->import(out, "small")->version, 2U);
}

TEST_F(RegistryTest, ClearsInterruptedImportsAndLeavesOutDamagedModels) {
  open()->import(fixture("bert"), "small").value();
  const std::string folder = folder_.path() + "/models/small";
  std::filesystem::create_directories(folder + "/.incoming-1234");
  std::filesystem::create_directories(folder + "/2");
  std::ofstream(folder + "/2/sibyl.json") << "{";
  auto registry = open();
  EXPECT_FALSE(std::filesystem::exists(folder + "/.incoming-1234"));
  EXPECT_EQ(registry->list().size(), 1U);
  EXPECT_EQ(registry->import(fixture("bert"), "small")->version, 3U);
}

}  // namespace
}  // namespace sibyl::model
