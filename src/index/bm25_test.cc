#include "index/bm25.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/memory_view.h"

namespace sibyl::index {
namespace {

// Worked by hand: N 4, df 1: ln(1 + 3.5 / 1.5) = ln(10 / 3); tf 2, length 10, average 8:
// 2 / (2 + 1.5 (0.25 + 0.75 * 1.25)) = 2 / 3.78125.
TEST(Bm25, AgreesWithTheFormulaByHand) {
  const Bm25 bm25;
  EXPECT_DOUBLE_EQ(bm25.inverse_frequency(4, 1), 1.2039728043259361);
  EXPECT_DOUBLE_EQ(bm25.term_part(2, 10, 8), 2 / 3.78125);
  EXPECT_GT(bm25.inverse_frequency(10, 10), 0);
  EXPECT_DOUBLE_EQ(bm25.term_part(1, 0, 0), 1 / 1.375);
}

TEST(Bm25Share, IsTheFormulaUpToItsStep) {
  const Bm25 bm25;
  base::Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const double sum = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(60)) - 30);
    const double factor = sum * (2 * random.uniform() - 1);
    const double average = 1 + 200 * random.uniform();
    const auto times = 1 + static_cast<uint32_t>(random.below(50));
    const auto length = times + static_cast<uint32_t>(random.below(1000));
    const Bm25Share share(bm25, factor, average, sum);
    EXPECT_NEAR(share.of(times, length), factor * bm25.term_part(times, length, average),
                sum * 1e-14);
    EXPECT_GE(share.bound(times, length), share.of(times, length));
    EXPECT_GE(share.bound(times + 1, length), share.of(times, length + 7));
    EXPECT_GE(share.bound(times, length), 0);
  }
}

TEST(Bm25Share, SumsAreTheSameInAnyOrder) {
  base::Random random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> factors(1 + random.below(30));
    double sum = 0;
    for (double& factor : factors) {
      factor = random.normal() * std::pow(10.0, static_cast<double>(random.below(8)));
      sum += std::abs(factor);
    }
    std::vector<double> shares;
    for (const double factor : factors) {
      shares.push_back(Bm25Share({}, factor, 50, sum).of(1 + random() % 9, 1 + random() % 90));
    }
    double forward = 0;
    for (const double share : shares) {
      forward += share;
    }
    random.shuffle(shares);
    double shuffled = 0;
    for (const double share : shares) {
      shuffled += share;
    }
    EXPECT_EQ(forward, shuffled);
  }
}

struct Corpus {
  std::vector<TermCounts> rows;
  std::unique_ptr<Postings> postings;
};

/// Common and rare words, short and long rows; many rows are equal, so that scores are.
Corpus make_corpus(size_t count, base::Random& random) {
  Corpus corpus;
  PostingsBuilder builder;
  for (size_t row = 0; row < count; ++row) {
    std::map<std::string, uint32_t> counts;
    TermCounts terms;
    for (uint64_t words = random.below(1 + random.below(30)); words > 0; --words) {
      ++counts["w" + std::to_string(random.below(1 + random.below(1 + random.below(400))))];
      ++terms.length;
    }
    terms.counts.assign(counts.begin(), counts.end());
    builder.add_row(terms);
    corpus.rows.push_back(std::move(terms));
  }
  corpus.postings = std::move(*open_postings(memory_view(builder.finish()), "p"));
  return corpus;
}

struct Question {
  std::vector<std::string> words;
  std::vector<double> factors;
  double factor_sum = 0;
  Bm25Share share(size_t word) const { return {Bm25(), factors[word], 9.5, factor_sum}; }
};

Question make_question(base::Random& random) {
  Question question;
  for (uint64_t words = 1 + random.below(9); words > 0; --words) {
    question.words.push_back("w" + std::to_string(random.below(1 + random.below(420))));
    const double factor = random.below(12) == 0 ? random.normal() : 0.05 + 6 * random.uniform();
    question.factors.push_back(random.below(15) == 0 ? 0 : factor);
    question.factor_sum += std::abs(question.factors.back());
  }
  return question;
}

/// Every row, one after the other.
void rank_plainly(const Corpus& corpus, const Question& question, const RowSet* allowed,
                  uint64_t first_key, simd::TopK& best) {
  for (uint32_t row = 0; row < corpus.rows.size(); ++row) {
    double score = 0;
    bool any = false;
    for (size_t i = 0; i < question.words.size(); ++i) {
      for (const auto& [term, count] : corpus.rows[row].counts) {
        if (term == question.words[i]) {
          score += question.share(i).of(count, corpus.rows[row].length);
          any = true;
        }
      }
    }
    if (any && (allowed == nullptr || allowed->contains(row))) {
      best.add(static_cast<float>(score), first_key + row);
    }
  }
}

// Two segments one after the other, with and without a filter: what is skipped changes nothing.
TEST(RankRows, GivesWhatScoringEveryRowGives) {
  base::Random random(3);
  const Corpus corpora[] = {make_corpus(9000, random), make_corpus(2500, random)};
  for (int round = 0; round < 60; ++round) {
    const Question question = make_question(random);
    const size_t k = 1 + random.below(round % 4 == 0 ? 4000 : 30);
    simd::TopK expected(k);
    simd::TopK found(k);
    uint64_t first_key = 7;
    for (const Corpus& corpus : corpora) {
      RowSet allowed(corpus.rows.size());
      const uint64_t one_of = 1 + random.below(1 + random.below(300));
      for (size_t row = 0; row < corpus.rows.size(); ++row) {
        if (random.below(one_of) == 0) {
          allowed.insert(row);
        }
      }
      const RowSet* filter = round % 2 == 0 ? nullptr : &allowed;
      std::vector<RankedTerm> terms;
      for (size_t i = 0; i < question.words.size(); ++i) {
        terms.push_back({corpus.postings.get(), question.words[i], question.share(i)});
      }
      rank_plainly(corpus, question, filter, first_key, expected);
      rank_rows(terms, filter, first_key, found);
      first_key += corpus.rows.size();
    }
    ASSERT_EQ(found.take(), expected.take()) << "round " << round;
  }
}

TEST(RankRows, UnknownWordsAndEmptySegmentsFindNothing) {
  base::Random random(4);
  const Corpus empty = make_corpus(0, random);
  const Corpus corpus = make_corpus(100, random);
  simd::TopK best(5);
  const Bm25Share share({}, 1, 5, 1);
  const RankedTerm in_empty{empty.postings.get(), "w0", share};
  rank_rows(std::span(&in_empty, 1), nullptr, 0, best);
  const RankedTerm unknown{corpus.postings.get(), "unknown", share};
  rank_rows(std::span(&unknown, 1), nullptr, 0, best);
  rank_rows({}, nullptr, 0, best);
  EXPECT_TRUE(best.take().empty());
}

}  // namespace
}  // namespace sibyl::index
