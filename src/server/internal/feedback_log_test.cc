#include "server/internal/feedback_log.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

FeedbackRow row_of(const std::string& collection, const std::string& question,
                   const std::string& document, bool good) {
  return {"2026-01-01T00:00:00.000Z", collection, question, document, document + "#0", good};
}

TEST(FeedbackLog, RowsSurviveAndATornLineIsCut) {
  const base::TemporaryDirectory folder;
  const std::string path = base::join_path(folder.path(), "feedback.jsonl");
  {
    const auto log = FeedbackLog::open(path);
    ASSERT_TRUE(log);
    ASSERT_TRUE((*log)->append(row_of("c", "why?", "d", true)));
  }
  const std::string whole = base::read_file(path).value();
  ASSERT_TRUE(base::replace_file(path, whole + R"({"time": "2026)"));
  const auto log = FeedbackLog::open(path);
  ASSERT_TRUE(log);
  ASSERT_TRUE((*log)->append(row_of("c", "how?", "e", false)));
  const auto page = (*log)->list("", 0, 10);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->lines.size(), 2U);
  EXPECT_EQ(page->lines[1], feedback_to_json(row_of("c", "how?", "e", false)));
}

TEST(FeedbackLog, PagesFollowOneAnother) {
  const base::TemporaryDirectory folder;
  const auto log = FeedbackLog::open(base::join_path(folder.path(), "f"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE((*log)->append(row_of(i % 2 == 0 ? "even" : "odd", std::to_string(i), "d", true)));
  }
  const auto first = (*log)->list("even", 0, 2);
  ASSERT_EQ(first->lines.size(), 2U);
  const auto second = (*log)->list("even", first->next, 2);
  ASSERT_EQ(second->lines.size(), 1U);
  EXPECT_EQ(second->next, 0U);
}

// Somebody who changes their mind must not leave a wrong pair behind.
TEST(FeedbackLog, PairsAreWhatWasLastJudgedGood) {
  const base::TemporaryDirectory folder;
  const auto log = FeedbackLog::open(base::join_path(folder.path(), "f"));
  ASSERT_TRUE((*log)->append(row_of("c", "q1", "d1", true)));
  ASSERT_TRUE((*log)->append(row_of("c", "q1", "d2", true)));
  ASSERT_TRUE((*log)->append(row_of("c", "q1", "d2", false)));
  ASSERT_TRUE((*log)->append(row_of("x", "q2", "d1", true)));
  EXPECT_EQ((*log)->pairs("c").value(), "{\"question\":\"q1\",\"answer_id\":\"d1\"}\n");
}

TEST(FeedbackLog, LinesOfOthersAreNoPairs) {
  const base::TemporaryDirectory folder;
  const std::string path = base::join_path(folder.path(), "f");
  ASSERT_TRUE(base::replace_file(path, "nonsense\n[]\n{\"question\": 5, \"good\": 1}\n\n"));
  const auto log = FeedbackLog::open(path);
  ASSERT_TRUE(log);
  EXPECT_EQ((*log)->pairs("").value(), "");
  EXPECT_TRUE((*log)->list("c", 0, 10)->lines.empty());
}

}  // namespace
}  // namespace sibyl::server
