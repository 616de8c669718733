#include "model/provenance.h"

#include <string>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "model/internal/model_files.h"

namespace sibyl::model {
namespace {

TEST(Provenance, ComesBackAsItWasWritten) {
  const base::TemporaryDirectory folder;
  ASSERT_TRUE(base::replace_file(folder.path() + "/config.json", "{}").has_value());
  Provenance written;
  written.name = "helpdesk";
  written.version = "3";
  written.base = "minilm@1";
  written.created = "2026-01-02T03:04:05Z";
  written.trained_on = R"({"pairs":{"count":7}})";
  written.parameters = R"({"epochs":2,"rate":2e-05})";
  written.pipelines = {{"blend", "4*document + 1*bm25"}};
  written.dimension = 384;
  ASSERT_TRUE(write_provenance(folder.path(), written).has_value());
  const auto read = read_provenance(folder.path());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->name, written.name);
  EXPECT_EQ(read->version, written.version);
  EXPECT_EQ(read->base, written.base);
  EXPECT_EQ(read->created, written.created);
  EXPECT_EQ(read->trained_on, written.trained_on);
  EXPECT_EQ(read->parameters, written.parameters);
  EXPECT_EQ(read->metrics, "null");
  EXPECT_EQ(read->pipelines, written.pipelines);
  EXPECT_EQ(read->integer_scheme, "none");
  EXPECT_EQ(read->dimension, 384U);
  ASSERT_EQ(read->checksums.size(), 1U);
  EXPECT_EQ(read->checksums.at("config.json"),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  EXPECT_TRUE(verify_checksums(folder.path()).has_value());
}

TEST(Provenance, HasDefaultsWithoutAFile) {
  const base::TemporaryDirectory folder;
  const auto read = read_provenance(folder.path());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->version, "1");
  EXPECT_EQ(read->trained_on, "null");
  EXPECT_TRUE(verify_checksums(folder.path()).has_value());
}

TEST(Provenance, RefusesWrongFiles) {
  for (const char* text :
       {"", "[]", "{}", R"({"format":2})", R"({"format":1,"name":7})",
        R"({"format":1,"dimension":-1})", R"({"format":1,"pipelines":[]})",
        R"({"format":1,"checksums":{"../../etc/passwd":"x"}})",
        R"({"format":1,"checksums":{"a":"short"}})", R"({"format":1,"checksums":{"a":7}})"}) {
    EXPECT_FALSE(parse_provenance(text, "sibyl.json").has_value()) << text;
  }
}

TEST(Provenance, RefusesToWriteWrongParts) {
  const base::TemporaryDirectory folder;
  Provenance wrong;
  wrong.metrics = "{";
  EXPECT_FALSE(write_provenance(folder.path(), wrong).has_value());
}

TEST(InnerPath, StaysInside) {
  for (const char* path : {"a", "a/b.json", "a..b", ".hidden"}) {
    EXPECT_TRUE(is_inner_path(path)) << path;
  }
  for (const char* path : {"", "/a", "..", "a/..", "../a", "a/../../b"}) {
    EXPECT_FALSE(is_inner_path(path)) << path;
  }
}

}  // namespace
}  // namespace sibyl::model
