#include "server/internal/job_stream.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::server {
namespace {

/// A job whose events lie in memory; it ends when the last of them was read.
class MemoryRunner final : public job::JobRunner {
 public:
  explicit MemoryRunner(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  Result<std::string> submit(const base::Json&) override { return std::string("j"); }
  std::vector<job::JobInfo> list() const override { return {}; }
  Result<job::JobInfo> find(const std::string& id) const override {
    if (id != "j") {
      return fail(Code::NotFound, "no job");
    }
    job::JobInfo info;
    info.id = id;
    info.name = "m";
    info.state = given_ == lines_.size() ? job::JobState::Done : job::JobState::Running;
    return info;
  }
  Result<void> cancel(const std::string&) override { return {}; }
  Result<void> resume(const std::string&) override { return {}; }
  Result<std::string> log(const std::string&) const override { return std::string(); }
  /// Two lines at once at most, from the first one at or behind the offset on.
  Result<std::vector<std::string>> events(const std::string&, uint64_t& offset,
                                          int64_t) const override {
    std::vector<std::string> out;
    uint64_t at = 0;
    for (size_t i = 0; i < lines_.size() && out.size() < 2; ++i) {
      if (at >= offset) {
        out.push_back(lines_[i]);
        offset = at + lines_[i].size() + 1;
        given_ = std::max(given_, i + 1);
      }
      at += lines_[i].size() + 1;
    }
    return out;
  }

 private:
  const std::vector<std::string> lines_;
  mutable size_t given_ = 0;
};

std::string stream_of(const std::shared_ptr<job::JobRunner>& runner, uint64_t offset,
                      const std::string& id = "j") {
  std::string got;
  stream_job_events([&runner]() -> Result<std::shared_ptr<job::JobRunner>> { return runner; }, id,
                    offset,
                    [&got](std::string_view piece) {
                      got += piece;
                      return true;
                    },
                    {});
  return got;
}

const std::vector<std::string> kLines = {R"({"a":1})", R"({"b":22})", R"({"c":3})"};

TEST(JobStream, HistoryComesFirstAndTheJobLast) {
  const std::string got = stream_of(std::make_shared<MemoryRunner>(kLines), 0);
  EXPECT_EQ(got.find("id: 8\ndata: {\"a\":1}\n\nid: 17\ndata: {\"b\":22}\n\nid: 25\ndata: "
                     "{\"c\":3}\n\nevent: end\ndata: {\"id\":\"j\",\"name\":\"m\""),
            0U)
      << got;
  EXPECT_TRUE(got.ends_with("}\n\n"));
}

// A browser that lost the connection says the last id that it saw.
TEST(JobStream, GoesOnBehindTheLastEventThatWasSeen) {
  const std::string got = stream_of(std::make_shared<MemoryRunner>(kLines), event_offset_of("17"));
  EXPECT_EQ(got.find("id: 25\ndata: {\"c\":3}\n\nevent: end\n"), 0U) << got;
}

TEST(JobStream, StrangeIdsBeginAtTheStart) {
  for (const std::string_view id : {"", "x", "-1", "17x", "99999999999999999999999"}) {
    EXPECT_EQ(event_offset_of(id), 0U) << id;
  }
}

TEST(JobStream, EndsWhenTheClientTheServerOrTheJobIsGone) {
  const auto runner = std::make_shared<MemoryRunner>(kLines);
  int pieces = 0;
  const JobRunnerSource source = [&]() -> Result<std::shared_ptr<job::JobRunner>> {
    return std::static_pointer_cast<job::JobRunner>(runner);
  };
  stream_job_events(source, "j", 0, [&pieces](std::string_view) { return ++pieces < 1; }, {});
  EXPECT_EQ(pieces, 1);
  std::stop_source stop;
  stop.request_stop();
  stream_job_events(
      source, "j", 0, [&pieces](std::string_view) { return ++pieces > 0; }, stop.get_token());
  EXPECT_EQ(pieces, 1);
  stream_job_events(
      []() -> Result<std::shared_ptr<job::JobRunner>> { return fail(Code::Unavailable, "gone"); },
      "j", 0, [&pieces](std::string_view) { return ++pieces > 0; }, {});
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(stream_of(std::make_shared<MemoryRunner>(std::vector<std::string>()), 0, "other"),
            "event: end\ndata: {}\n\n");
}

}  // namespace
}  // namespace sibyl::server
