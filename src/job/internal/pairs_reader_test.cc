#include "job/internal/pairs_reader.h"

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/gzip.h"

namespace sibyl::job::internal {
namespace {

class PairsReader : public testing::Test {
 protected:
  Result<PairRows> read(const std::string& name, const std::string& content) {
    const std::string path = base::join_path(folder_.path(), name);
    EXPECT_TRUE(base::replace_file(path, content));
    return read_pairs(path);
  }
  std::string refusal(const std::string& name, const std::string& content) {
    const auto rows = read(name, content);
    if (rows) {
      return "accepted";
    }
    EXPECT_EQ(rows.error().code, Code::InvalidData);
    // Without the temporary folder.
    std::string message = rows.error().message;
    for (size_t at; (at = message.find(folder_.path() + "/")) != std::string::npos;) {
      message.erase(at, folder_.path().size() + 1);
    }
    return message;
  }
  base::TemporaryDirectory folder_;
};

TEST_F(PairsReader, ReadsEveryForm) {
  const std::string json =
      "{\"question\":\"q1\",\"answer\":\"a\"}\n\n{\"question\":\"q2\",\"answer_id\":7,\"x\":[]}\n";
  for (const auto& [name, content] :
       {std::pair<std::string, std::string>("p.jsonl", json), {"p.jsonl.gz", base::gzip(json)}}) {
    const auto rows = read(name, content);
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_EQ(rows->rows.size(), 2U);
    EXPECT_EQ(rows->rows[0].answer, "a");
    EXPECT_EQ(rows->rows[1].answer_id, "7");
    EXPECT_EQ(rows->rows[1].line, 3U);
  }
  const auto csv = read("p.csv", "answer_id,question\nd1,\"a, b\"\n");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->rows[0].question, "a, b");
  EXPECT_EQ(csv->rows[0].answer_id, "d1");
  const auto tsv = read("p.tsv", "question\tanswer\tanswer_id\nq\tan answer\t\nq\t\td\n");
  ASSERT_TRUE(tsv) << tsv.error().message;
  EXPECT_EQ(tsv->rows[0].answer, "an answer");
  EXPECT_EQ(tsv->rows[1].answer_id, "d");
}

TEST_F(PairsReader, RowsWithoutTextAreCountedAndLeftOut) {
  const auto rows =
      read("p.jsonl",
           "{\"question\":\" \",\"answer\":\"a\"}\n{\"question\":\"q\",\"answer\":\"\"}\n"
           "{\"question\":\"q\",\"answer\":\"a\"}\n");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->rows.size(), 1U);
  EXPECT_EQ(rows->empty_dropped, 2U);
}

TEST_F(PairsReader, WrongLinesAreNamedByFileAndLine) {
  EXPECT_EQ(refusal("p.jsonl", "{\"question\":\"q\",\"answer\":\"a\"}\n{\"question\":\"q\"}\n"),
            "p.jsonl line 2: answer (text) or answer_id (document id) is missing");
  EXPECT_EQ(refusal("p.jsonl", "{\"answer\":\"a\"}\n[1]\n"),
            "p.jsonl line 1: question is missing; p.jsonl line 2: must be a JSON object");
  EXPECT_EQ(refusal("p.jsonl", "{\"question\":1,\"answer\":\"a\"}\n"),
            "p.jsonl line 1: question must be a text");
  EXPECT_NE(refusal("p.jsonl", "not json\n").find("p.jsonl line 1: not a pair: not valid JSON"),
            std::string::npos);
  EXPECT_NE(refusal("p.jsonl", "{\"question\":\"\xFF\"}\n").find("p.jsonl line 1"),
            std::string::npos);
  EXPECT_EQ(refusal("p.csv", "question,answer\nq\n"),
            "p.csv line 2: has 1 fields; the header has 2");
  EXPECT_EQ(refusal("p.csv", "text,label\nq,a\n"),
            "p.csv line 1: the header is 'text,label'; it needs question and answer or answer_id");
  EXPECT_NE(refusal("p.csv", "question,answer\nq,a\"b\n").find("p.csv line 2: a stray quote"),
            std::string::npos);
  EXPECT_EQ(refusal("p.jsonl", ""), "p.jsonl holds no pair of question and answer");
}

TEST_F(PairsReader, ManyWrongLinesAreCounted) {
  std::string content;
  for (int i = 0; i < 25; ++i) {
    content += "{}\n";
  }
  EXPECT_TRUE(refusal("p.jsonl", content).ends_with("; and 15 more"));
}

}  // namespace
}  // namespace sibyl::job::internal
