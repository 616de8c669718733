#include "server/internal/served_models.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "server/internal/prediction.h"

namespace sibyl::server {
namespace {

std::string test_model(const std::string& name) {
  return std::string(SIBYL_TEST_DATA) + "/model/" + name;
}

ModelServerOptions options_of(std::vector<ModelToServe> models) {
  ModelServerOptions options;
  options.models = std::move(models);
  options.threads = 1;
  return options;
}

TEST(ServedModels, TheOnlyModelHasItsNameItsAliasAndNone) {
  ModelServerOptions options = options_of({{"helpdesk", test_model("bert")}});
  options.alias = "node-1";
  auto served = ServedModels::open(options, {});
  ASSERT_TRUE(served) << served.error().message;
  const auto encoder = (*served)->find("");
  ASSERT_TRUE(encoder);
  EXPECT_EQ((*encoder)->info().model, "helpdesk");
  EXPECT_EQ((*encoder)->info().version, "1");
  for (const char* const name : {"helpdesk", "node-1", "helpdesk@1", "node-1@1"}) {
    EXPECT_EQ((*served)->find(name).value(), *encoder) << name;
  }
  for (const char* const name : {"other", "helpdesk@2", "helpdesk@", "@1", "@"}) {
    const auto missing = (*served)->find(name);
    ASSERT_FALSE(missing) << name;
    EXPECT_EQ(missing.error().code, Code::NotFound);
    EXPECT_EQ(missing.error().field, "model");
  }
}

TEST(ServedModels, SeveralModelsAreToldApart) {
  auto served = ServedModels::open(
      options_of({{"first", test_model("bert")}, {"second", test_model("static")}}), {});
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_EQ((*served)->find("")->get()->info().model, "first");
  EXPECT_EQ((*served)->find("second")->get()->info().model, "second");
  EXPECT_EQ((*served)->models()[0].kind, "transformer");
  EXPECT_EQ((*served)->models()[1].kind, "static");
}

TEST(ServedModels, EmptyTextIsTextAndNeverNan) {
  auto served = ServedModels::open(
      options_of({{"bert", test_model("bert")}, {"static", test_model("static")}}), {});
  ASSERT_TRUE(served) << served.error().message;
  const std::vector<std::string> texts = {"", " ", "a"};
  for (const char* const name : {"bert", "static"}) {
    const auto made = predict(**served, name, texts, encoder::TextKind::Document, {});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->texts(), 3U);
    for (const float value : made->vectors) {
      EXPECT_TRUE(std::isfinite(value)) << name;
    }
  }
}

TEST(ServedModels, WrongNamesAreRefused) {
  const std::string path = test_model("static");
  for (const auto& models :
       std::vector<std::vector<ModelToServe>>{{},
                                              {{"", path}},
                                              {{"a/b", path}},
                                              {{"a@1", path}},
                                              {{".a", path}},
                                              {{std::string(65, 'a'), path}},
                                              {{"a", path}, {"a", path}},
                                              std::vector<ModelToServe>(17, {"a", path})}) {
    const auto served = ServedModels::open(options_of(models), {});
    ASSERT_FALSE(served);
    EXPECT_EQ(served.error().code, Code::InvalidArgument) << served.error().message;
  }
  const auto missing = ServedModels::open(options_of({{"a", "/nowhere/at/all"}}), {});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("--model a=/nowhere/at/all"), std::string::npos);
}

TEST(ServedModels, ReadersAndRerankersAreRefusedByName) {
  const base::TemporaryDirectory folder;
  const auto write = [&folder](const std::string& name, const std::string& text) {
    ASSERT_TRUE(base::replace_file(base::join_path(folder.path(), name), text));
  };
  EXPECT_TRUE(check_makes_vectors(folder.path()));
  write("config.json", R"({"architectures": ["BertModel"]})");
  EXPECT_TRUE(check_makes_vectors(folder.path()));
  write("config.json", R"({"architectures": ["BertForQuestionAnswering"]})");
  auto refused = check_makes_vectors(folder.path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidData);
  EXPECT_NE(refused.error().message.find("reader"), std::string::npos);
  write("config.json", R"({"architectures": [7, "XLMRobertaForSequenceClassification"]})");
  refused = check_makes_vectors(folder.path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("re-ranker"), std::string::npos);
  write("modules.json", "[]");
  EXPECT_TRUE(check_makes_vectors(folder.path()));
}

}  // namespace
}  // namespace sibyl::server
