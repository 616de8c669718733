// BM25 against the full-text search of SQLite (FTS5), which is linked into this test alone. Its
// formula differs in three known ways: k1 is 1.2, an inverse frequency is ln((N - n + 0.5) /
// (n + 0.5)) and at least 1e-6, and each share is multiplied by k1 + 1. So the test compares FTS5's
// own scores with that formula over our postings, and our ranking with our formula over the
// counts of FTS5's index.

#include <gtest/gtest.h>

#ifdef SIBYL_SQLITE3
#include <algorithm>
#include <cmath>
#include <map>

#include <sqlite3.h>

#include "base/random.h"
#include "index/bm25.h"
#include "index/memory_view.h"
#endif

namespace sibyl {
namespace {

#ifndef SIBYL_SQLITE3

TEST(SqliteFts5, AgreesUpToTheFormula) {
  GTEST_SKIP()
      << "SQLite's headers are missing: install libsqlite3-dev (tools/setup test-packages)";
}

#else

constexpr size_t kRows = 2000;
constexpr size_t kQuestions = 60;

/// A database in memory; a statement that fails ends the test.
class Sqlite {
 public:
  Sqlite() { check(sqlite3_open(":memory:", &database_)); }
  ~Sqlite() { sqlite3_close(database_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  /// False when this SQLite was built without FTS5.
  bool create() {
    return sqlite3_exec(database_,
                        "create virtual table docs using fts5(body, tokenize='ascii');"
                        "create virtual table terms using fts5vocab(docs, 'instance');",
                        nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  /// Calls visit(statement) for every row of the answer.
  template <class Visit>
  void run(const std::string& sql, const Visit& visit, const std::string& text = {}) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr));
    if (sqlite3_bind_parameter_count(statement) > 0) {
      check(sqlite3_bind_text(statement, 1, text.c_str(), -1, SQLITE_TRANSIENT));
    }
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
      visit(statement);
    }
    EXPECT_EQ(code, SQLITE_DONE) << sqlite3_errmsg(database_);
    sqlite3_finalize(statement);
  }

 private:
  void check(int code) { ASSERT_EQ(code, SQLITE_OK) << sqlite3_errmsg(database_); }

  sqlite3* database_ = nullptr;
};

using Words = std::map<std::string, uint32_t>;

class SqliteFts5 : public testing::Test {
 protected:
  void SetUp() override {
    if (!sqlite_.create()) {
      GTEST_SKIP() << "this SQLite was built without FTS5";
    }
    base::Random random(5);
    index::PostingsBuilder builder;
    sqlite_.run("begin", [](sqlite3_stmt*) {});
    for (size_t row = 0; row < kRows; ++row) {
      Words words;
      std::string text;
      index::TermCounts terms;
      for (uint64_t left = 1 + random.below(60); left > 0; --left) {
        const std::string word = "w" + std::to_string(random.below(1 + random.below(800)));
        ++words[word];
        ++terms.length;
        text += word + " ";
      }
      terms.counts.assign(words.begin(), words.end());
      builder.add_row(terms);
      sqlite_.run("insert into docs(body) values(?1)", [](sqlite3_stmt*) {}, text);
    }
    sqlite_.run("commit", [](sqlite3_stmt*) {});
    auto opened = index::open_postings(index::memory_view(builder.finish()), "p");
    ASSERT_TRUE(opened);
    postings_ = std::move(*opened);
    for (size_t i = 0; i < kQuestions; ++i) {
      std::vector<std::string> words;
      for (uint64_t left = 1 + random.below(6); left > 0; --left) {
        words.push_back("w" + std::to_string(random.below(1 + random.below(820))));
      }
      std::sort(words.begin(), words.end());
      words.erase(std::unique(words.begin(), words.end()), words.end());
      questions_.push_back(std::move(words));
    }
  }

  double average_length() const {
    return static_cast<double>(postings_->total_length()) / static_cast<double>(kRows);
  }

  Sqlite sqlite_;
  std::unique_ptr<index::Postings> postings_;
  std::vector<std::vector<std::string> > questions_;
};

/// FTS5's formula over our postings.
double fts5_score(const index::Postings& postings, const std::vector<std::string>& words,
                  uint32_t row, double average_length) {
  constexpr double kK1 = 1.2;
  constexpr double kB = 0.75;
  double score = 0;
  for (const std::string& word : words) {
    const double with = postings.document_frequency(word);
    const double inverse = std::max(1e-6, std::log((kRows - with + 0.5) / (with + 0.5)));
    uint32_t frequency = 0;
    postings.frequencies(word, std::span(&row, 1), std::span(&frequency, 1));
    const double times = frequency;
    score += inverse * times * (kK1 + 1) /
             (times + kK1 * (1 - kB + kB * postings.length(row) / average_length));
  }
  return score;
}

TEST_F(SqliteFts5, ItsScoresFollowFromOurPostings) {
  size_t compared = 0;
  for (const auto& words : questions_) {
    std::string match;
    for (const std::string& word : words) {
      match += (match.empty() ? "" : " OR ") + word;
    }
    sqlite_.run(
        "select rowid, bm25(docs) from docs where docs match ?1",
        [&](sqlite3_stmt* found) {
          const auto row = static_cast<uint32_t>(sqlite3_column_int64(found, 0) - 1);
          EXPECT_NEAR(-sqlite3_column_double(found, 1),
                      fts5_score(*postings_, words, row, average_length()), 1e-9);
          ++compared;
        },
        match);
  }
  EXPECT_GT(compared, kRows);
}

TEST_F(SqliteFts5, OurRankingFollowsFromItsIndex) {
  for (const auto& words : questions_) {
    const index::Bm25 bm25;
    std::vector<std::map<uint32_t, uint32_t> > counts(words.size());
    std::vector<double> inverses;
    std::map<uint32_t, double> scores;
    double factor_sum = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      sqlite_.run(
          "select doc from terms where term = ?1",
          [&](sqlite3_stmt* found) {
            ++counts[i][static_cast<uint32_t>(sqlite3_column_int64(found, 0) - 1)];
          },
          words[i]);
      inverses.push_back(bm25.inverse_frequency(kRows, counts[i].size()));
      factor_sum += inverses[i];
      for (const auto& [row, times] : counts[i]) {
        scores[row] +=
            inverses[i] * bm25.term_part(times, postings_->length(row), average_length());
      }
    }
    std::vector<double> expected;
    for (const auto& [row, score] : scores) {
      expected.push_back(score);
    }
    std::sort(expected.rbegin(), expected.rend());
    std::vector<index::RankedTerm> terms;
    for (size_t i = 0; i < words.size(); ++i) {
      terms.push_back({postings_.get(), words[i],
                       index::Bm25Share(bm25, inverses[i], average_length(), factor_sum)});
    }
    simd::TopK best(25);
    index::rank_rows(terms, nullptr, 0, best);
    const std::vector<simd::Scored> found = best.take();
    ASSERT_EQ(found.size(), std::min<size_t>(25, expected.size()));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].score, scores.at(static_cast<uint32_t>(found[i].key)), 1e-5);
      EXPECT_NEAR(found[i].score, expected[i], 1e-5);
    }
  }
}

#endif

}  // namespace
}  // namespace sibyl
