// BM25 over one postings file: every posting of every term, as a plain search adds them up, against
// the search that skips blocks. Both in one run, alternating; processor time. The answers are
// compared too. Then questions to rows that are not sealed yet. Prints JSON lines.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/json.h"
#include "base/random.h"
#include "index/bm25.h"
#include "index/memory_view.h"
#include "store/database.h"
#include "text/analyzer.h"

namespace {

using sibyl::base::Random;
using sibyl::index::Bm25Share;
using sibyl::index::Postings;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Corpus {
  std::string name;
  std::unique_ptr<Postings> postings;
  std::vector<std::vector<std::string>> questions;
};

std::unique_ptr<Postings> open(sibyl::index::PostingsBuilder& builder) {
  auto opened = sibyl::index::open_postings(sibyl::index::memory_view(builder.finish()), "bench");
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    std::exit(1);
  }
  return std::move(*opened);
}

/// Words by Zipf's law (exponent 1.05 over 300,000 words), lengths log-normal around 60. A question
/// takes 2 to 8 words of one row, without the 40 commonest, which an analyzer drops.
Corpus make_zipf(size_t rows) {
  Random random(1);
  std::vector<double> sums(300'000);
  double sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    sum += std::pow(static_cast<double>(i + 1), -1.05);
    sums[i] = sum;
  }
  const auto draw = [&] {
    const double at = random.uniform() * sum;
    return static_cast<size_t>(std::lower_bound(sums.begin(), sums.end(), at) - sums.begin());
  };
  Corpus corpus{"zipf", nullptr, {}};
  sibyl::index::PostingsBuilder builder;
  for (size_t row = 0; row < rows; ++row) {
    const auto length =
        static_cast<size_t>(std::min(2000.0, std::exp(3.9 + 0.6 * random.normal())));
    std::map<std::string, uint32_t> counts;
    std::vector<std::string> rare;
    sibyl::index::TermCounts terms;
    for (size_t i = 0; i < length; ++i) {
      const size_t word = draw();
      if (word < 40) {
        continue;
      }
      std::string text = "w" + std::to_string(word);
      if (row % (rows / 200) == 0 && rare.size() < 2 + row / (rows / 200) % 7) {
        rare.push_back(text);
      }
      ++counts[text];
      ++terms.length;
    }
    terms.counts.assign(counts.begin(), counts.end());
    builder.add_row(terms);
    if (!rare.empty()) {
      std::sort(rare.begin(), rare.end());
      rare.erase(std::unique(rare.begin(), rare.end()), rare.end());
      corpus.questions.push_back(std::move(rare));
    }
  }
  corpus.postings = open(builder);
  return corpus;
}

/// Passages and questions of JSONL files with a field `text`; empty when they are not there.
Corpus read_passages(const std::string& name, const std::string& passages,
                     const std::string& questions) {
  const auto analyzer = *sibyl::text::Analyzer::create("en");
  std::vector<sibyl::text::Term> terms;
  Corpus corpus{name, nullptr, {}};
  sibyl::index::PostingsBuilder builder;
  std::ifstream lines(passages);
  size_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const auto row = sibyl::base::parse_json(line);
    if (row && row->contains("text")) {
      analyzer->analyze((*row)["text"].get<std::string>(), terms);
      builder.add_row(sibyl::index::count_terms(terms));
    }
  }
  std::ifstream asked(questions);
  for (std::string line; corpus.questions.size() < 400 && std::getline(asked, line);) {
    const auto row = sibyl::base::parse_json(line);
    if (row && row->contains("text")) {
      analyzer->analyze((*row)["text"].get<std::string>(), terms);
      std::vector<std::string> words;
      for (const auto& term : terms) {
        words.push_back(term.text);
      }
      std::sort(words.begin(), words.end());
      words.erase(std::unique(words.begin(), words.end()), words.end());
      corpus.questions.push_back(std::move(words));
    }
  }
  if (rows > 0) {
    corpus.postings = open(builder);
  }
  return corpus;
}

std::vector<sibyl::index::RankedTerm> weigh(const Postings& postings,
                                            const std::vector<std::string>& words) {
  const sibyl::index::Bm25 bm25;
  std::vector<double> factors;
  double sum = 0;
  for (const std::string& word : words) {
    factors.push_back(bm25.inverse_frequency(postings.rows(), postings.document_frequency(word)));
    sum += factors.back();
  }
  const double average =
      static_cast<double>(postings.total_length()) / static_cast<double>(postings.rows());
  std::vector<sibyl::index::RankedTerm> terms;
  for (size_t i = 0; i < words.size(); ++i) {
    terms.push_back({&postings, words[i], Bm25Share(bm25, factors[i], average, sum)});
  }
  return terms;
}

std::vector<sibyl::simd::Scored> search_all(std::span<const sibyl::index::RankedTerm> terms,
                                            size_t k) {
  const Postings& postings = *terms.front().postings;
  std::vector<double> scores(postings.rows(), 0);
  sibyl::index::RowSet found(postings.rows());
  std::vector<sibyl::index::Posting> read;
  for (const auto& term : terms) {
    read.clear();
    postings.read(term.text, read);
    for (const auto& posting : read) {
      scores[posting.row] += term.share.of(posting.frequency, postings.length(posting.row));
      found.insert(posting.row);
    }
  }
  sibyl::simd::TopK best(k);
  found.for_each([&](size_t row) { best.add(static_cast<float>(scores[row]), row); });
  return best.take();
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

void report(const Corpus& corpus, size_t k, const char* search, const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times) {
    sum += time;
  }
  std::printf(
      "{\"bench\": \"bm25\", \"corpus\": \"%s\", \"rows\": %zu, \"questions\": %zu, \"k\": %zu, "
      "\"search\": \"%s\", \"cpu_us_mean\": %.1f, \"cpu_us_median\": %.1f, \"cpu_us_p95\": %.1f}\n",
      corpus.name.c_str(), corpus.postings->rows(), times.size(), k, search,
      sum / static_cast<double>(times.size()) * 1e6, percentile(times, 0.5) * 1e6,
      percentile(times, 0.95) * 1e6);
}

/// The quicker of two turns a question and search.
bool compare(const Corpus& corpus, size_t k) {
  std::vector<double> plain;
  std::vector<double> skipping;
  bool same = true;
  for (const auto& words : corpus.questions) {
    double best_plain = 1e9;
    double best_skipping = 1e9;
    for (int turn = 0; turn < 2 && !words.empty(); ++turn) {
      const auto terms = weigh(*corpus.postings, words);
      double start = cpu_seconds();
      const auto expected = search_all(terms, k);
      best_plain = std::min(best_plain, cpu_seconds() - start);
      start = cpu_seconds();
      sibyl::simd::TopK best(k);
      sibyl::index::rank_rows(terms, nullptr, 0, best);
      const auto found = best.take();
      best_skipping = std::min(best_skipping, cpu_seconds() - start);
      same = same && found == expected;
    }
    if (!words.empty()) {
      plain.push_back(best_plain);
      skipping.push_back(best_skipping);
    }
  }
  report(corpus, k, "every posting", plain);
  report(corpus, k, "block-max", skipping);
  if (!same) {
    std::fprintf(stderr, "the two searches disagree\n");
  }
  return same;
}

/// Questions to rows that are not sealed yet: `rows` texts of the generator, words of one of them.
void bench_tail(size_t rows) {
  const sibyl::base::TemporaryDirectory folder;
  sibyl::store::DatabaseOptions options;
  options.tail_rows_max = 2 * rows;
  const auto database = *sibyl::store::Database::open(folder.path(), options);
  sibyl::store::Schema schema;
  schema.text_fields = {"body"};
  const auto collection = *database->create("bench", schema, "");
  Random random(2);
  std::vector<std::string> questions;
  std::vector<sibyl::store::Change> changes(rows);
  for (size_t i = 0; i < rows; ++i) {
    std::string text;
    for (size_t words = 40 + random.below(160); words > 0; --words) {
      text += "word" + std::to_string(random.below(1 + random.below(20'000))) + " ";
    }
    if (i % (rows / 100) == 0) {
      questions.push_back(text.substr(0, 60));
    }
    changes[i].row.id = std::to_string(i);
    changes[i].row.texts = {std::move(text)};
  }
  if (!collection->write(std::move(changes))) {
    std::fprintf(stderr, "the rows could not be written\n");
    return;
  }
  const auto snapshot = collection->snapshot();
  std::vector<double> times;
  for (const std::string& question : questions) {
    const auto terms = snapshot->analyze(question);
    double best = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
      const double start = cpu_seconds();
      static_cast<void>(snapshot->search_text(0, terms, 10, nullptr)->size());
      best = std::min(best, cpu_seconds() - start);
    }
    times.push_back(best);
  }
  std::printf(
      "{\"bench\": \"bm25\", \"corpus\": \"unsealed\", \"rows\": %zu, \"questions\": %zu, \"k\": "
      "10, "
      "\"cpu_us_median\": %.1f, \"cpu_us_p95\": %.1f}\n",
      rows, times.size(), percentile(times, 0.5) * 1e6, percentile(times, 0.95) * 1e6);
}

}  // namespace

/// bm25_bench [ROWS] [PASSAGES.jsonl QUESTIONS.jsonl]
int main(int count, char** arguments) {
  const size_t rows = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
  bool same = true;
  std::vector<Corpus> corpora;
  corpora.push_back(make_zipf(std::max<size_t>(rows, 200)));
  if (count > 3) {
    corpora.push_back(read_passages("passages", arguments[2], arguments[3]));
  }
  for (const Corpus& corpus : corpora) {
    for (const size_t k : {10, 100}) {
      same = corpus.postings != nullptr && !corpus.questions.empty() && compare(corpus, k) && same;
    }
  }
  bench_tail(2364);
  return same ? 0 : 1;
}
