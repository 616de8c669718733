#include "cli/internal/predictive_unit.h"

#include <map>

#include <gtest/gtest.h>

namespace sibyl::cli {
namespace {

Result<PredictiveUnit> read(const std::map<std::string, std::string>& environment) {
  return read_predictive_unit([&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  });
}

TEST(PredictiveUnit, NothingIsGivenOutsideOfSeldon) {
  const auto unit = read({});
  ASSERT_TRUE(unit);
  EXPECT_FALSE(unit->given());
  EXPECT_EQ(unit->id, "");
}

TEST(PredictiveUnit, WhatTheOperatorSetsIsRead) {
  const auto unit = read({{"PREDICTIVE_UNIT_HTTP_SERVICE_PORT", "9000"},
                          {"PREDICTIVE_UNIT_GRPC_SERVICE_PORT", "9500"},
                          {"PREDICTIVE_UNIT_SERVICE_PORT", "9000"},
                          {"PREDICTIVE_UNIT_METRICS_SERVICE_PORT", "6000"},
                          {"PREDICTIVE_UNIT_METRICS_ENDPOINT", "/prometheus"},
                          {"PREDICTIVE_UNIT_ID", "helpdesk"},
                          {"PREDICTIVE_UNIT_PARAMETERS",
                           R"([{"name": "threads", "value": "3", "type": "INT"},
                               {"name": "model_uri", "value": "s3://b/m", "type": "STRING"},
                               {"name": "other", "value": "x", "type": "STRING"}])"}});
  ASSERT_TRUE(unit) << unit.error().message;
  EXPECT_TRUE(unit->given());
  EXPECT_EQ(unit->http_port, 9000);
  EXPECT_EQ(unit->grpc_port, 9500);
  EXPECT_EQ(unit->metrics_port, 6000);
  EXPECT_EQ(unit->metrics_path, "/prometheus");
  EXPECT_EQ(unit->id, "helpdesk");
  EXPECT_EQ(unit->threads, 3U);
  EXPECT_EQ(unit->model_uri, "s3://b/m");
}

TEST(PredictiveUnit, TheOneOldPortIsThatOfHttp) {
  const auto unit = read({{"PREDICTIVE_UNIT_SERVICE_PORT", "5000"}});
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->http_port, 5000);
  EXPECT_EQ(unit->grpc_port, 0);
}

TEST(PredictiveUnit, WhatIsWrongIsNamed) {
  for (const std::string port : {"0", "65536", "-1", "http", "90 00", "9000x"}) {
    const auto unit = read({{"PREDICTIVE_UNIT_HTTP_SERVICE_PORT", port}});
    ASSERT_FALSE(unit) << port;
    EXPECT_EQ(unit.error().code, Code::InvalidConfig);
    EXPECT_NE(unit.error().message.find("PREDICTIVE_UNIT_HTTP_SERVICE_PORT"), std::string::npos);
  }
  for (const std::string parameters : {"{", "{}", "3"}) {
    const auto unit = read({{"PREDICTIVE_UNIT_PARAMETERS", parameters}});
    ASSERT_FALSE(unit) << parameters;
    EXPECT_EQ(unit.error().code, Code::InvalidConfig);
  }
  EXPECT_FALSE(read({{"PREDICTIVE_UNIT_PARAMETERS", R"([{"name": "threads", "value": "many"}])"}}));
  EXPECT_TRUE(read({{"PREDICTIVE_UNIT_PARAMETERS", R"([1, null, "x"])"}}));
}

}  // namespace
}  // namespace sibyl::cli
