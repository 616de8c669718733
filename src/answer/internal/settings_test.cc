#include "answer/internal/settings.h"

#include <gtest/gtest.h>

namespace sibyl::answer::internal {
namespace {

TEST(Settings, OriginsComeBackAsTheyWere) {
  StoredSettings stored;
  EXPECT_TRUE(add_origins(stored.origins, {"/texts", "-", ""}));
  EXPECT_FALSE(add_origins(stored.origins, {"-"}));
  const auto read = settings_from_json(settings_to_json(stored));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->origins.names, (std::set<std::string>{"", "-", "/texts"}));
  EXPECT_TRUE(read->origins.complete);
}

TEST(Settings, SettingsOfBeforeHaveNoOrigins) {
  const auto read = settings_from_json(R"({"model": "", "language": "en"})");
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->origins.names.empty());
  EXPECT_TRUE(read->origins.complete);
}

TEST(Settings, MoreOriginsThanAreKeptAreSaid) {
  DocumentOrigins origins;
  for (size_t i = 0; i < kOriginsMax; ++i) {
    EXPECT_TRUE(add_origins(origins, {"/" + std::to_string(i)}));
  }
  EXPECT_TRUE(origins.complete);
  EXPECT_TRUE(add_origins(origins, {"/one more"}));
  EXPECT_FALSE(origins.complete);
  EXPECT_EQ(origins.names.size(), kOriginsMax);
  // Nothing new to write.
  EXPECT_FALSE(add_origins(origins, {"/and another", "/7"}));
  StoredSettings stored;
  stored.origins = origins;
  EXPECT_FALSE(settings_from_json(settings_to_json(stored))->origins.complete);
}

}  // namespace
}  // namespace sibyl::answer::internal
