// Indexes under a collection: what they find, and that they come and go without a reader noticing.

#include <set>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "index/checked_file.h"
#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

constexpr size_t kDimension = 32;
constexpr const char* kFolder = "/data/collections/c/";

Schema schema() {
  Schema schema = test_schema();
  schema.vector_fields = {{"document", kDimension}};
  return schema;
}

std::vector<float> random_vector(base::Random& random) {
  std::vector<float> vector(kDimension);
  for (float& value : vector) {
    value = static_cast<float>(random.normal());
  }
  return vector;
}

Change row_change(size_t number, uint64_t version) {
  base::Random random(number * 1000 + version);
  Row row;
  row.id = "d" + std::to_string(number);
  row.source = std::to_string(version);
  row.metadata = version % 2 == 0 ? R"({"even":true})" : R"({"even":false})";
  row.texts = {"text"};
  row.vectors = {random_vector(random)};
  return put(std::move(row));
}

struct Indexed {
  explicit Indexed(uint64_t flat_vectors_min, uint64_t memory_bytes_max = 0)
      : options(test_options(100)) {
    options.flat_vectors_min = flat_vectors_min;
    options.graph_vectors_min = 1'000'000;
    options.memory_bytes_max = memory_bytes_max;
    database.reset();  // first: the old one may still be sealing and merging
    database = *Database::open("/data", options, files);
    rows = *database->create("c", schema(), "{}");
  }
  void add(size_t first, size_t count, uint64_t version = 0) {
    std::vector<Change> changes;
    for (size_t i = 0; i < count; ++i) {
      changes.push_back(row_change(first + i, version));
      if (changes.size() == 50 || i + 1 == count) {
        ASSERT_TRUE(rows->write(std::move(changes)));
        changes.clear();
        database->settle();
      }
    }
  }
  void reopen() {
    rows.reset();
    database.reset();
    auto again = Database::open("/data", options, files);
    ASSERT_TRUE(again) << again.error().message;
    database = std::move(*again);
    rows = *database->find("c");
  }
  VectorFieldStatistics field() const { return rows->statistics().vector_fields.at(0); }
  std::string index_file() {
    const auto entries = *files.list(kFolder);
    for (const auto& entry : entries) {
      if (entry.name.starts_with("index-")) {
        return entry.name;
      }
    }
    return {};
  }
  CrashFileSystem files;
  DatabaseOptions options;
  std::unique_ptr<Database> database;
  std::shared_ptr<Collection> rows;
};

/// Compares with the scores of every live row: the right order, exact scores, hardly any missing.
void expect_near_exact(const Snapshot& snapshot, const Selection* selection = nullptr,
                       const std::set<std::string>& selected = {}) {
  constexpr size_t kTop = 10;
  base::Random random(77);
  size_t found = 0;
  size_t wanted = 0;
  const std::vector<RowRef> rows = *snapshot.list("", 1'000'000);
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = random_vector(random);
    std::vector<Hit> all = *snapshot.score_vectors(0, query, rows);
    std::map<std::pair<uint32_t, uint32_t>, float> scores;
    std::vector<float> best;
    for (const Hit& hit : all) {
      if (selection == nullptr || selected.contains(std::string(snapshot.row(hit.ref)->id))) {
        scores[{hit.ref.segment, hit.ref.row}] = hit.score;
        best.push_back(hit.score);
      }
    }
    std::sort(best.rbegin(), best.rend());
    best.resize(std::min(kTop, best.size()));
    const std::vector<Hit> hits = *snapshot.search_vectors(0, query, kTop, selection);
    ASSERT_EQ(hits.size(), best.size());
    wanted += best.size();
    for (size_t at = 0; at < hits.size(); ++at) {
      const auto score = scores.find({hits[at].ref.segment, hits[at].ref.row});
      ASSERT_NE(score, scores.end()) << "a row that may not be answered";
      ASSERT_EQ(hits[at].score, score->second);
      ASSERT_TRUE(at == 0 || hits[at - 1].score >= hits[at].score);
      found += hits[at].score >= best.back() ? 1 : 0;
    }
  }
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(wanted));
}

TEST(Indexes, ComeWithEnoughVectorsAndSayHowMany) {
  Indexed indexed(300);
  indexed.add(0, 200);
  EXPECT_EQ(indexed.field().index, "exact");
  EXPECT_EQ(indexed.field().indexed_vectors, 0U);
  indexed.add(200, 150);
  EXPECT_EQ(indexed.field().index, "flat");
  EXPECT_EQ(indexed.field().indexed_vectors, 300U);
  EXPECT_EQ(indexed.field().vectors, 300U);  // and 50 rows in the tail
  EXPECT_GT(indexed.field().mapped_bytes, 300U * kDimension * sizeof(float));
  expect_near_exact(*indexed.rows->snapshot());
  EXPECT_TRUE(indexed.rows->verify());
  indexed.reopen();
  EXPECT_EQ(indexed.field().indexed_vectors, 300U);
  expect_near_exact(*indexed.rows->snapshot());
}

TEST(Indexes, DeletedAndReplacedRowsAreNotAnswered) {
  Indexed indexed(300);
  indexed.add(0, 400);
  indexed.add(30, 40, 1);
  std::vector<Change> deletes;
  for (size_t i = 100; i < 150; ++i) {
    deletes.push_back(erase("d" + std::to_string(i)));
  }
  ASSERT_TRUE(indexed.rows->write(std::move(deletes)));
  EXPECT_EQ(indexed.field().index, "flat");
  expect_near_exact(*indexed.rows->snapshot());
  indexed.reopen();
  expect_near_exact(*indexed.rows->snapshot());
}

TEST(Indexes, KeepToAFilter) {
  Indexed indexed(300);
  indexed.add(0, 500);
  indexed.add(0, 100, 1);
  const auto snapshot = indexed.rows->snapshot();
  std::set<std::string> odd;
  for (size_t i = 0; i < 100; ++i) {
    odd.insert("d" + std::to_string(i));
  }
  const auto filter = *Filter::parse("even = false");
  const auto selection = *snapshot->select(*filter);
  EXPECT_EQ(selection->rows(), 100U);
  expect_near_exact(*snapshot, selection.get(), odd);
}

TEST(Indexes, SurviveMergesAndSnapshotsKeepTheirs) {
  Indexed indexed(300);
  indexed.add(0, 350);
  const auto before = indexed.rows->snapshot();
  indexed.add(350, 800);
  EXPECT_GE(indexed.field().indexed_vectors + 300, indexed.field().vectors);
  ASSERT_TRUE(indexed.rows->compact({}, {}));
  // The index over the merged rows is there when the old one goes.
  EXPECT_EQ(indexed.rows->statistics().sealed_segments, 1U);
  EXPECT_EQ(indexed.field().indexed_vectors, 1150U);
  expect_near_exact(*indexed.rows->snapshot());
  expect_near_exact(*before);
  EXPECT_TRUE(indexed.rows->verify());
  indexed.reopen();
  EXPECT_EQ(indexed.field().indexed_vectors, 1150U);
  expect_near_exact(*indexed.rows->snapshot());
}

TEST(Indexes, OfANewModelAreThereWhenItIs) {
  Indexed indexed(300);
  indexed.add(0, 400);
  Schema next = indexed.rows->schema();
  next.model = "other";
  const auto maker = [](std::span<const RowView> rows) {
    std::vector<std::vector<std::vector<float>>> made;
    for (const RowView& row : rows) {
      base::Random random(base::hash64(row.id));
      made.push_back({random_vector(random)});
    }
    return Result<std::vector<std::vector<std::vector<float>>>>(std::move(made));
  };
  ASSERT_TRUE(indexed.rows->replace_vectors(next, "{}", maker, {}, {}));
  EXPECT_EQ(indexed.field().indexed_vectors, 400U);
  expect_near_exact(*indexed.rows->snapshot());
  indexed.reopen();
  EXPECT_EQ(indexed.field().indexed_vectors, 400U);
  expect_near_exact(*indexed.rows->snapshot());
}

TEST(Indexes, ThatAreDamagedOrMissingAreMadeAgain) {
  Indexed indexed(300);
  indexed.add(0, 400);
  for (const bool missing : {false, true}) {
    const std::string file = indexed.index_file();
    ASSERT_FALSE(file.empty());
    if (missing) {
      ASSERT_TRUE(indexed.files.remove(kFolder + file));
    } else {
      indexed.files.flip(kFolder + file, indexed.files.status(kFolder + file)->bytes / 2, 4);
      const auto verified = indexed.rows->verify();
      ASSERT_FALSE(verified);
      EXPECT_NE(verified.error().message.find(file), std::string::npos);
    }
    indexed.reopen();
    EXPECT_LT(indexed.field().indexed_vectors, 400U);
    expect_near_exact(*indexed.rows->snapshot());
    indexed.database->settle();
    EXPECT_EQ(indexed.field().indexed_vectors, 400U);
    EXPECT_NE(indexed.index_file(), file);
    expect_near_exact(*indexed.rows->snapshot());
    EXPECT_TRUE(indexed.rows->verify());
  }
}

TEST(Indexes, OfAnotherVersionAreMadeAgain) {
  Indexed indexed(300);
  indexed.add(0, 400);
  const std::string file = indexed.index_file();
  const std::string bytes = *base::read_file(kFolder + file, 1 << 24, indexed.files);
  std::string other;
  index::CheckedFileWriter writer(bytes.substr(0, index::kCheckedFileMagicBytes), 9999, {{1, 4}},
                                  [&other](std::string_view part) -> Result<void> {
                                    other += part;
                                    return {};
                                  });
  ASSERT_TRUE(writer.append("four"));
  ASSERT_TRUE(writer.finish());
  ASSERT_TRUE(base::replace_file(kFolder + file, other, indexed.files));
  indexed.reopen();
  expect_near_exact(*indexed.rows->snapshot());
  indexed.database->settle();
  EXPECT_EQ(indexed.field().indexed_vectors, 400U);
  EXPECT_TRUE(indexed.rows->verify());
}

TEST(Indexes, MergesAndModelSwitchesAreRefusedWhereMemoryIsShortAndNothingIsLost) {
  Indexed indexed(1'000'000, 1000);
  indexed.add(0, 400);
  const auto merged = indexed.rows->compact({}, {});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().field, "memory_bytes_max");
  Schema next = indexed.rows->schema();
  next.model = "other";
  const auto maker = [](std::span<const RowView> rows) {
    const std::vector<std::vector<float>> one = {std::vector<float>(kDimension, 0.5F)};
    return Result<std::vector<std::vector<std::vector<float>>>>(
        std::vector<std::vector<std::vector<float>>>(rows.size(), one));
  };
  const auto switched = indexed.rows->replace_vectors(next, "{}", maker, {}, {});
  ASSERT_FALSE(switched);
  EXPECT_EQ(switched.error().field, "memory_bytes_max");
  EXPECT_EQ(indexed.rows->schema().model, schema().model);
  EXPECT_EQ(indexed.rows->snapshot()->live_rows(), 400U);
  expect_near_exact(*indexed.rows->snapshot());
  EXPECT_TRUE(indexed.rows->verify());
}

TEST(Indexes, AreRefusedWhereMemoryIsShortAndTheCollectionGoesOn) {
  Indexed indexed(300, 1000);
  indexed.add(0, 400);
  EXPECT_EQ(indexed.field().index, "exact");
  expect_near_exact(*indexed.rows->snapshot());
}

}  // namespace
}  // namespace sibyl::store
