#include "server/internal/routes.h"

#include <set>

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

TEST(Routes, IdsKeepTheirSlashesAndPercentSigns) {
  const auto match = match_route("GET", "/v1/collections/faq/documents/a%2Fb%20%2525%23c");
  ASSERT_TRUE(match);
  ASSERT_NE(match->route, nullptr);
  EXPECT_EQ(match->route->operation, Operation::GetDocument);
  EXPECT_EQ(match->captures, (std::vector<std::string>{"faq", "a/b %25#c"}));
}

TEST(Routes, HeadIsGetAndAWrongMethodNamesTheRightOnes) {
  EXPECT_EQ(match_route("HEAD", "/v1/jobs")->route->operation, Operation::ListJobs);
  const auto match = match_route("PATCH", "/v1/collections/c");
  EXPECT_EQ(match->route, nullptr);
  EXPECT_EQ(match->allow, "GET, HEAD, PUT, DELETE, OPTIONS");
}

TEST(Routes, EmptySegmentsAndLongerPathsAreNothing) {
  for (const std::string_view path : {"/v1/collections/", "/v1/collections//documents", "/v1",
                                      "/v1/jobs/x/events/y", "/V1/jobs", "/"}) {
    const auto match = match_route("GET", path);
    ASSERT_TRUE(match) << path;
    EXPECT_EQ(match->route, nullptr) << path;
    EXPECT_TRUE(match->allow.empty()) << path;
  }
}

TEST(Routes, AddressesOfLaterWorkAreKnownByName) {
  for (const std::string_view path :
       {"/transform-input", "/transform-output", "/route", "/aggregate"}) {
    const auto match = match_route("POST", path);
    ASSERT_TRUE(match) << path;
    EXPECT_NE(match->unbuilt, nullptr) << path;
  }
  EXPECT_EQ(match_route("GET", "/routex")->unbuilt, nullptr);
}

TEST(Routes, AFileOfAModelMayLieInAFolder) {
  const auto match = match_route("GET", "/v1/models/helpdesk/3/1_Pooling/config.json");
  ASSERT_NE(match->route, nullptr);
  EXPECT_EQ(match->route->operation, Operation::ModelFile);
  EXPECT_EQ(match->captures, (std::vector<std::string>{"helpdesk", "3", "1_Pooling/config.json"}));
  EXPECT_EQ(match_route("GET", "/v1/models/helpdesk/3")->route->operation, Operation::ModelVersion);
  EXPECT_EQ(match_route("GET", "/v1/models/helpdesk/3/")->route, nullptr);
  EXPECT_EQ(match_route("GET", "/v1/models/helpdesk/3/a//b")->route, nullptr);
}

TEST(Routes, RolesServeWhatIsTheirs) {
  const auto served = [](std::string_view method, std::string_view path, Role role) {
    return is_served(*match_route(method, path)->route, role);
  };
  for (const std::string_view path : {"/predict", "/v1/embeddings", "/v2/models/m/infer"}) {
    EXPECT_TRUE(served("POST", path, Role::All)) << path;
    EXPECT_TRUE(served("POST", path, Role::Models)) << path;
    EXPECT_FALSE(served("POST", path, Role::Answers)) << path;
  }
  EXPECT_FALSE(served("GET", "/v1/collections", Role::Models));
  EXPECT_FALSE(served("GET", "/v1/models/m/3/sibyl.json", Role::Models));
  EXPECT_TRUE(served("GET", "/v1/models/m/3/sibyl.json", Role::Answers));
  EXPECT_TRUE(served("GET", "/v1/collections", Role::Answers));
  for (const Role role : {Role::All, Role::Answers, Role::Models}) {
    for (const std::string_view path :
         {"/health/live", "/health/ready", "/metrics", "/v1/models"}) {
      EXPECT_TRUE(served("GET", path, role)) << path;
    }
  }
}

// Two rows that take the same request would leave one of them without ever being asked.
TEST(Routes, EveryRowIsReachedByItsOwnPattern) {
  std::set<std::string> seen;
  for (const Route& route : routes()) {
    std::string path(route.pattern);
    for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
      path.replace(open, path.find('}') - open + 1, "x");
    }
    const auto match = match_route(route.method, path);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->route, &route) << route.method << " " << route.pattern;
    EXPECT_TRUE(seen.insert(std::string(route.method) + std::string(route.pattern)).second);
  }
}

}  // namespace
}  // namespace sibyl::server
