#include "server/internal/uploads.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/json.h"
#include "net/sha256.h"
#include "server/internal/job_files.h"
#include "server/internal/model_import.h"

namespace sibyl::server {
namespace {

class UploadsTest : public testing::Test {
 protected:
  UploadsTest() { open({1000, 3, 1'000'000}); }
  void open(const Uploads::Limits& limits) {
    auto opened = Uploads::open(base::join_path(folder_.path(), "uploads"), limits);
    ASSERT_TRUE(opened);
    uploads_ = std::move(*opened);
  }

  base::TemporaryDirectory folder_;
  std::unique_ptr<Uploads> uploads_;
  const int64_t now_us_ = base::system_clock().now_us();
};

TEST_F(UploadsTest, TheSameBytesGiveTheSameIdWithTheEndingOfTheName) {
  const auto first = uploads_->put("data/Pairs.JSONL", "row", now_us_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->id, net::sha256_hex("row") + ".jsonl");
  EXPECT_EQ(uploads_->put("other.jsonl", "row", now_us_)->id, first->id);
  EXPECT_EQ(uploads_->list().size(), 1U);
  EXPECT_EQ(base::read_file(uploads_->path_of(first->id).value()).value(), "row");
  EXPECT_TRUE(uploads_->remove(first->id));
  EXPECT_EQ(uploads_->remove(first->id).error().code, Code::NotFound);
}

TEST_F(UploadsTest, LimitsHoldAndOldFilesMakeRoom) {
  ASSERT_TRUE(uploads_->put("a", "1", now_us_));
  ASSERT_TRUE(uploads_->put("a", "2", now_us_));
  ASSERT_TRUE(uploads_->put("a", "3", now_us_));
  const auto full = uploads_->put("a", "4", now_us_);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::ResourceExhausted);
  EXPECT_FALSE(uploads_->put("a", std::string(1001, 'x'), now_us_));
  EXPECT_TRUE(uploads_->put("a", "4", now_us_ + 10'000'000));
  EXPECT_EQ(uploads_->list().size(), 3U);
}

TEST_F(UploadsTest, IdsLeadNowhereElse) {
  for (const std::string bad : {"", "../lock", "/etc/passwd", "a", "..", "ABC"}) {
    EXPECT_EQ(uploads_->path_of(bad).error().code, Code::NotFound) << bad;
  }
  EXPECT_FALSE(is_upload_id(std::string(64, 'a') + "/../../x"));
  EXPECT_FALSE(is_upload_id(std::string(64, 'a') + ".."));
  EXPECT_FALSE(is_upload_id(std::string(64, 'A')));
  EXPECT_TRUE(is_upload_id(std::string(64, 'a') + ".csv.gz"));
}

TEST(UploadEnding, IsKeptWhenItIsOne) {
  EXPECT_EQ(upload_ending("a/b.csv.gz"), ".csv.gz");
  EXPECT_EQ(upload_ending("b.gz"), ".gz");
  EXPECT_EQ(upload_ending("x.tar.csv"), ".csv");
  for (const std::string_view none : {"", "a", ".hidden", "a.", "a.b c", "a.\xC3\xA9", "a.."}) {
    EXPECT_EQ(upload_ending(none), "") << none;
  }
}

TEST_F(UploadsTest, JobsOverTheNetworkNameUploadsAndNothingElse) {
  const std::string id = uploads_->put("p.jsonl", "x", now_us_)->id;
  auto job = base::parse_json(R"({"data": {"pairs": ")" + id + R"(", "collection": "c"},
                                  "evaluate": {"questions": "upload:)" +
                              id + R"("}})");
  ASSERT_TRUE(resolve_job_files(*job, *uploads_, false));
  EXPECT_EQ((*job)["data"]["pairs"], uploads_->path_of(id).value());
  EXPECT_EQ((*job)["evaluate"]["questions"], uploads_->path_of(id).value());
  EXPECT_EQ((*job)["data"]["collection"], "c");
  for (const std::string field : {"pairs", "texts"}) {
    auto path = base::parse_json(R"({"data": {")" + field + R"(": "/etc/passwd"}})");
    const auto refused = resolve_job_files(*path, *uploads_, false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::PermissionDenied);
    EXPECT_EQ(refused.error().field, "data." + field);
    EXPECT_TRUE(resolve_job_files(*path, *uploads_, true));
  }
  auto directory = base::parse_json(R"({"base": "/models/x"})");
  EXPECT_EQ(resolve_job_files(*directory, *uploads_, false).error().field, "base");
  auto relative = base::parse_json(R"({"data": {"pairs": "pairs.jsonl"}})");
  EXPECT_EQ(resolve_job_files(*relative, *uploads_, true).error().code, Code::InvalidArgument);
  auto array = base::parse_json("[]");
  EXPECT_FALSE(resolve_job_files(*array, *uploads_, true));
}

TEST_F(UploadsTest, ModelsAreBuiltFromUploadsWithoutLeavingTheirFolder) {
  const std::string id = uploads_->put("config.json", "{}", now_us_)->id;
  const auto import = parse_model_import(R"({"name": "m", "files": {"config.json": ")" + id +
                                             R"(", "1_Pooling/config.json": ")" + id + R"("}})",
                                         false);
  ASSERT_TRUE(import) << import.error().message;
  const base::TemporaryDirectory target;
  ASSERT_TRUE(assemble_model(*import, *uploads_, target.path()));
  EXPECT_EQ(base::read_file(target.path() + "/1_Pooling/config.json").value(), "{}");
  for (const std::string bad : {"../x", "/x", "a/../b", "a//b", ".x", "a/b/c/d", "", "a b"}) {
    EXPECT_FALSE(parse_model_import(R"({"name": "m", "files": {")" + bad + R"(": "x"}})", true))
        << bad;
  }
}

TEST(ModelImport, OnlyLocalPeersNameDirectories) {
  const auto code_of = [](const std::string& uri, bool local) {
    const auto import = parse_model_import(R"({"name": "m", "uri": ")" + uri + R"("})", local);
    return import ? import->directory + import->address
                  : std::string(code_name(import.error().code));
  };
  EXPECT_EQ(code_of("/a/b", true), "/a/b");
  EXPECT_EQ(code_of("file:///a/b", true), "/a/b");
  EXPECT_EQ(code_of("/a/b", false), "permission-denied");
  EXPECT_EQ(code_of("a/b", true), "invalid-argument");
  EXPECT_EQ(code_of("s3://bucket/m", true), "s3://bucket/m");
  EXPECT_EQ(code_of("https://models.example/m/3", false), "https://models.example/m/3");
  EXPECT_NE(code_of("ftp://models.example/m", true), "ftp://models.example/m");
  EXPECT_FALSE(parse_model_import(R"({"name": "m"})", true));
  EXPECT_FALSE(parse_model_import(R"({"uri": "/a"})", true));
  EXPECT_FALSE(parse_model_import("[", true));
}

}  // namespace
}  // namespace sibyl::server
