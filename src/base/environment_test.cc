#include "base/environment.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace sibyl::base {
namespace {

TEST(Environment, IsEmptyWhereNothingIsSet) {
  ::setenv("SIBYL_TEST_VARIABLE", "a value", 1);
  EXPECT_EQ(environment_variable("SIBYL_TEST_VARIABLE"), "a value");
  ::setenv("SIBYL_TEST_VARIABLE", "", 1);
  EXPECT_EQ(environment_variable("SIBYL_TEST_VARIABLE"), "");
  ::unsetenv("SIBYL_TEST_VARIABLE");
  EXPECT_EQ(environment_variable("SIBYL_TEST_VARIABLE"), "");
}

}  // namespace
}  // namespace sibyl::base
