// BM25 over the tail, segments and several fields, against a plain reading of the formula.

#include <cmath>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "index/bm25.h"
#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"
#include "store/internal/tail.h"

namespace sibyl::store {
namespace {

const char* const kWords[] = {"river",  "stone",  "cloud",  "garden",  "window",
                              "bridge", "forest", "market", "harbour", "engine",
                              "letter", "copper", "meadow", "signal"};

std::string random_text(base::Random& random) {
  std::string text;
  for (uint64_t words = random.below(25); words > 0; --words) {
    text += std::string(kWords[random.below(1 + random.below(std::size(kWords)))]) + " ";
  }
  return text;
}

Schema two_fields() {
  Schema schema;
  schema.text_fields = {"title", "body"};
  return schema;
}

Row text_row(const std::string& id, base::Random& random) {
  Row row;
  row.id = id;
  row.content_hash = random.next_u64();
  row.metadata = random.below(2) == 0 ? R"({"even": true})" : R"({"even": false})";
  row.texts = {random_text(random), random_text(random)};
  return row;
}

/// The formula over all live rows, field by field: id to score, of rows that hold a term.
std::map<std::string, double> plain_scores(const Snapshot& snapshot,
                                           std::span<const FieldBoost> fields,
                                           std::span<const QueryTerm> terms) {
  const std::vector<RowRef> rows = *snapshot.list("", 1'000'000);
  std::map<std::string, double> scores;
  for (const FieldBoost& field : fields) {
    std::vector<std::map<std::string, double>> counts;
    std::vector<double> lengths;
    std::map<std::string, double> with;
    double sum = 0;
    for (const RowRef& ref : rows) {
      std::map<std::string, double> count;
      double length = 0;
      for (const QueryTerm& term : snapshot.analyze((*snapshot.row(ref)).texts[field.field])) {
        count[term.text] = term.weight;
        length += term.weight;
        ++with[term.text];
      }
      counts.push_back(std::move(count));
      lengths.push_back(length);
      sum += length;
    }
    const index::Bm25 bm25;
    const double average = sum / static_cast<double>(rows.size());
    for (const QueryTerm& term : terms) {
      const double inverse =
          bm25.inverse_frequency(rows.size(), static_cast<uint64_t>(with[term.text]));
      for (size_t i = 0; i < rows.size(); ++i) {
        if (const auto found = counts[i].find(term.text); found != counts[i].end()) {
          scores[std::string((*snapshot.row(rows[i])).id)] +=
              field.boost * term.weight * inverse *
              bm25.term_part(found->second, lengths[i], average);
        }
      }
    }
  }
  return scores;
}

void expect_plain(const Snapshot& snapshot, std::span<const FieldBoost> fields,
                  const std::string& question) {
  const std::vector<QueryTerm> terms = snapshot.analyze(question);
  const std::map<std::string, double> expected = plain_scores(snapshot, fields, terms);
  const std::vector<Hit> hits = *snapshot.search_text(fields, terms, 10'000, nullptr);
  ASSERT_EQ(hits.size(), expected.size()) << question;
  for (const Hit& hit : hits) {
    EXPECT_NEAR(hit.score, expected.at(std::string((*snapshot.row(hit.ref)).id)), 1e-4);
  }
}

// Rows in segments with deletes and in the tail; then all in one segment: the same bits.
TEST(SearchText, FieldsCountByTheirBoostsWhereverRowsLie) {
  CrashFileSystem files;  // in memory
  DatabaseOptions options;
  options.tail_rows_max = 1'000'000;
  const auto database = *Database::open("/data", options, files);
  const auto collection = *database->create("c", two_fields(), "");
  base::Random random(1);
  for (int part = 0; part < 3; ++part) {
    std::vector<Change> changes;
    for (int row = 0; row < 300; ++row) {
      const std::string id = "d" + std::to_string(random.below(600));
      changes.push_back(random.below(5) == 0 ? erase(id) : put(text_row(id, random)));
    }
    ASSERT_TRUE(collection->write(std::move(changes)));
    if (part < 2) {
      ASSERT_TRUE(collection->seal());
    }
  }
  const std::vector<std::vector<FieldBoost>> choices = {
      {{0, 1}}, {{1, 1}}, {{0, 2.5}, {1, 1}}, {{1, 0.3}, {0, -1}}, {{0, 0}, {1, 1}}};
  const std::vector<std::string> questions = {
      "river", "stone cloud garden", "signal meadow", "harbour river river window", "unknown", ""};
  const auto see = [&](const Snapshot& snapshot) {
    std::vector<SeenHit> all;
    const std::vector<RowRef> rows = *snapshot.list("", 10'000);
    const auto selection = *snapshot.select(**Filter::parse("even = true"));
    for (const auto& fields : choices) {
      for (const std::string& question : questions) {
        const auto terms = snapshot.analyze(question);
        for (const auto& hits : {*snapshot.search_text(fields, terms, 9, nullptr),
                                 *snapshot.search_text(fields, terms, 500, selection.get()),
                                 *snapshot.score_text(fields, terms, rows)}) {
          const auto part = seen(snapshot, hits);
          all.insert(all.end(), part.begin(), part.end());
        }
      }
    }
    return all;
  };
  const auto before = collection->snapshot();
  for (const auto& fields : choices) {
    for (const std::string& question : questions) {
      expect_plain(*before, fields, question);
    }
  }
  const std::vector<SeenHit> expected = see(*before);
  ASSERT_TRUE(collection->compact({}, {}));
  EXPECT_EQ(see(*collection->snapshot()), expected);
}

TEST(SearchText, ImpossibleQuestionsAreRefusedByName) {
  CrashFileSystem files;
  const auto database = *Database::open("/data", {}, files);
  const auto collection = *database->create("c", two_fields(), "");
  const auto snapshot = collection->snapshot();
  const QueryTerm term{"river", 1};
  const auto message = [&](FieldBoost field, const QueryTerm& asked) {
    const auto found =
        snapshot->search_text(std::span(&field, 1), std::span(&asked, 1), 3, nullptr);
    return found ? std::string() : found.error().message;
  };
  EXPECT_EQ(message({1, 1}, term), "");
  EXPECT_NE(message({2, 1}, term).find("text field 2"), std::string::npos);
  EXPECT_NE(message({1, NAN}, term).find("'body' has the boost"), std::string::npos);
  EXPECT_NE(message({0, 1}, {"river", 1e300}).find("'river' has the weight"), std::string::npos);
  const std::vector<QueryTerm> many(3000, term);
  const std::vector<FieldBoost> both = {{0, 1}, {1, 1}};
  EXPECT_EQ(snapshot->search_text(both, many, 3, nullptr).error().code, Code::TooLarge);
  EXPECT_TRUE(snapshot->search_text(0, many, 0, nullptr)->empty());
}

// Full blocks are looked up, the last one is read row by row.
TEST(Tail, GivesTheLiveRowsOfATerm) {
  base::Random random(2);
  const auto analyzer = *text::Analyzer::create("en");
  Schema schema;
  schema.text_fields = {"title", "body"};
  for (const uint32_t rows : {1U, kTailBlockRows - 1, kTailBlockRows, 3 * kTailBlockRows + 7}) {
    Tail tail;
    auto live = std::make_shared<index::RowSet>(rows);
    for (uint32_t number = 0; number < rows; ++number) {
      auto row = std::make_shared<TailRow>();
      for (int field = 0; field < 2; ++field) {
        std::vector<text::Term> terms;
        analyzer->analyze(random_text(random), terms);
        row->texts.emplace_back(index::count_terms(terms));
      }
      tail.append(std::move(row), schema);
      if (random.below(3) > 0) {
        live->insert(number);
      }
    }
    tail.live = std::move(live);
    ASSERT_EQ(tail.rows, rows);
    for (const std::string word : {"river", "stone", "signal", "unknown"}) {
      for (size_t field = 0; field < 2; ++field) {
        const uint64_t hash = base::hash64(word);
        std::vector<TailPosting> found;
        tail.read(field, word, hash, found);
        size_t at = 0;
        for (uint32_t number = 0; number < rows; ++number) {
          const TailTerms& text = tail.row(number).texts[field];
          const uint32_t frequency = text.frequency(word, hash);
          if (frequency > 0 && tail.live->contains(number)) {
            ASSERT_LT(at, found.size());
            EXPECT_EQ(found[at].row, number);
            EXPECT_EQ(found[at].frequency, frequency);
            EXPECT_EQ(found[at].length, text.length());
            ++at;
          }
        }
        EXPECT_EQ(at, found.size());
        std::vector<TailPosting> other;
        tail.read(field, word, hash + 1, other);  // another hash: another term
        EXPECT_TRUE(other.empty());
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::store
