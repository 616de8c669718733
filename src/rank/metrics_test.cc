#include "rank/metrics.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::rank {
namespace {

TEST(ScoreRanking, FirstPlaceOfOneGoldScoresOneEverywhere) {
  const std::vector<uint8_t> hits = {1, 0, 0};
  for (const double value : metric_values(score_ranking(hits, 1))) {
    EXPECT_DOUBLE_EQ(value, 1.0);
  }
}

TEST(ScoreRanking, ThirdAndTwelfthPlaceOfThreeGold) {
  std::vector<uint8_t> hits(20, 0);
  hits[2] = 1;
  hits[11] = 1;
  const Metrics metrics = score_ranking(hits, 3);
  EXPECT_DOUBLE_EQ(metrics.precision_at_1, 0);
  EXPECT_DOUBLE_EQ(metrics.mrr_at_10, 1.0 / 3);
  const double ideal = 1 + 1 / std::log2(3.0) + 0.5;
  EXPECT_NEAR(metrics.ndcg_at_10, 0.5 / ideal, 1e-12);
  EXPECT_DOUBLE_EQ(metrics.recall_at_10, 1.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.recall_at_100, 2.0 / 3);
  EXPECT_NEAR(metrics.map_at_100, (1.0 / 3 + 2.0 / 12) / 3, 1e-12);
}

TEST(ScoreRanking, NothingFoundNothingGoldAndPlacesPastAHundredCountZero) {
  for (const double value : metric_values(score_ranking({}, 2))) {
    EXPECT_EQ(value, 0);
  }
  std::vector<uint8_t> late(150, 0);
  late[100] = 1;
  for (const double value : metric_values(score_ranking(late, 1))) {
    EXPECT_EQ(value, 0);
  }
  for (const double value : metric_values(score_ranking(late, 0))) {
    EXPECT_EQ(value, 0);
  }
}

// The figures were computed by trec_eval's own code.
TEST(ScoreRanking, AgreesWithTrecEval) {
  const std::filesystem::path path =
      std::filesystem::path(SIBYL_SHARED_CHECKS) / "metrics_golden.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "metrics_golden.json is missing at " << path;
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto golden = base::parse_json(text.str());
  ASSERT_TRUE(golden.has_value());
  std::vector<Metrics> all;
  for (const base::Json& query : (*golden)["queries"]) {
    std::set<std::string> gold;
    for (const base::Json& id : query["gold"]) {
      gold.insert(id.get<std::string>());
    }
    std::vector<uint8_t> hits;
    for (const base::Json& id : query["ranked"]) {
      hits.push_back(gold.contains(id.get<std::string>()) ? 1 : 0);
    }
    all.push_back(score_ranking(hits, gold.size()));
    const std::array<double, 6> values = metric_values(all.back());
    for (size_t m = 0; m < kMetricNames.size(); ++m) {
      EXPECT_NEAR(values[m], query["metrics"][std::string(kMetricNames[m])].get<double>(), 1e-9)
          << query["query"] << " " << kMetricNames[m];
    }
  }
  ASSERT_EQ(all.size(), 60U);
  const std::array<Estimate, 6> means = estimate(all);
  for (size_t m = 0; m < kMetricNames.size(); ++m) {
    EXPECT_NEAR(means[m].mean, (*golden)["mean"][std::string(kMetricNames[m])].get<double>(), 1e-9);
  }
}

TEST(Estimate, IntervalHoldsTheMeanAndIsTheSameEveryTime) {
  std::vector<Metrics> questions(400);
  for (size_t i = 0; i < questions.size(); ++i) {
    questions[i].precision_at_1 = i % 4 == 0 ? 1 : 0;
  }
  const Estimate first = estimate(questions)[0];
  const Estimate again = estimate(questions)[0];
  EXPECT_DOUBLE_EQ(first.mean, 0.25);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  // Normal approximation: 1.96 * sqrt(0.25 * 0.75 / 400) = 0.042.
  EXPECT_NEAR(first.low, 0.25 - 0.042, 0.01);
  EXPECT_NEAR(first.high, 0.25 + 0.042, 0.01);
  EXPECT_EQ(estimate({})[0].mean, 0);
}

TEST(PairedDifference, SameQuestionsGiveANarrowInterval) {
  std::vector<double> a(300);
  std::vector<double> b(300);
  for (size_t i = 0; i < a.size(); ++i) {
    b[i] = static_cast<double>(i % 10) / 10;
    a[i] = b[i] + 0.1;  // Always better by the same amount, however unlike the questions are.
  }
  const Estimate difference = paired_difference(a, b);
  EXPECT_NEAR(difference.mean, 0.1, 1e-12);
  EXPECT_NEAR(difference.low, 0.1, 1e-12);
  EXPECT_NEAR(difference.high, 0.1, 1e-12);
}

}  // namespace
}  // namespace sibyl::rank
