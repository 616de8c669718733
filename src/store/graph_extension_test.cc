#include "store/internal/graph_extension.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/state_snapshot.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

constexpr size_t kDimension = 24;
constexpr size_t kRows = 2000;
constexpr size_t kCentres = 25;
constexpr const char* kFolder = "/data/collections/c/";

std::vector<float> vector_of(uint64_t number) {
  base::Random centre(number % kCentres);
  base::Random random(number + 1000);
  std::vector<float> vector(kDimension);
  for (float& value : vector) {
    value = static_cast<float>(centre.normal() + 0.8 * random.normal());
  }
  return vector;
}

Change add(uint64_t number) {
  Row row;
  row.id = "d" + std::to_string(number);
  row.texts = {"text"};
  row.vectors = {vector_of(number)};
  return put(std::move(row));
}

struct Rows {
  Rows() {
    DatabaseOptions options = test_options(500);
    options.flat_vectors_min = 100;
    options.graph_vectors_min = 1000;
    database.reset();  // first: the old one may still be sealing and merging
    database = *Database::open("/data", options, files);
    Schema schema = test_schema();
    schema.vector_fields = {{"document", kDimension}};
    collection = *database->create("c", schema, "{}");
  }
  void write(std::vector<Change> changes) {
    ASSERT_TRUE(collection->write(std::move(changes)));
    database->settle();
  }
  void add_range(uint64_t first, uint64_t end, size_t batch,
                 const std::set<uint64_t>& without = {}) {
    std::vector<Change> changes;
    for (uint64_t i = first; i < end; ++i) {
      if (!without.contains(i)) {
        changes.push_back(add(i));
      }
      if (changes.size() == batch || i + 1 == end) {
        write(std::move(changes));
        changes.clear();
      }
    }
  }
  CollectionState state() const {
    return dynamic_cast<const StateSnapshot&>(*collection->snapshot()).state();
  }
  std::string graph_bytes() {
    const auto entries = *files.list(kFolder);
    for (const auto& entry : entries) {
      if (entry.name.ends_with(".graph")) {
        return *base::read_file(kFolder + entry.name, size_t{64} << 20, files);
      }
    }
    return {};
  }
  CrashFileSystem files;
  std::unique_ptr<Database> database;
  std::shared_ptr<Collection> collection;
};

/// The share of the ten nearest that is found; no row of `gone` is.
double recall_of(const Collection& rows, const std::set<uint64_t>& gone) {
  const auto snapshot = rows.snapshot();
  const std::vector<RowRef> all = *snapshot->list("", 1'000'000);
  size_t found = 0;
  constexpr size_t kQueries = 100;
  for (uint64_t i = 0; i < kQueries; ++i) {
    const std::vector<float> query = vector_of(1'000'000 + i);
    std::vector<Hit> scores = *snapshot->score_vectors(0, query, all);
    std::nth_element(scores.begin(), scores.begin() + 9, scores.end(),
                     [](const Hit& a, const Hit& b) { return a.score > b.score; });
    const float least = scores[9].score;
    const std::vector<Hit> hits = *snapshot->search_vectors(0, query, 10, nullptr);
    EXPECT_EQ(hits.size(), 10U);
    for (const Hit& hit : hits) {
      const std::string id((*snapshot->row(hit.ref)).id);
      EXPECT_FALSE(gone.contains(std::stoull(id.substr(1)))) << id;
      found += hit.score >= least ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (10 * kQueries);
}

TEST(GraphExtension, ATenthDeletedAndATenthAddedIsFoundAsByANewGraph) {
  Rows rows;
  rows.add_range(0, kRows, 500);
  ASSERT_TRUE(rows.collection->compact({}, {}));
  const CollectionState before = rows.state();
  ASSERT_EQ(before.derived.size(), 1U);
  ASSERT_EQ(before.derived[0].index->kind(), "graph");
  std::set<uint64_t> gone;
  std::vector<Change> deletes;
  for (uint64_t i = 3; i < kRows; i += 10) {
    gone.insert(i);
    deletes.push_back(erase("d" + std::to_string(i)));
  }
  rows.write(std::move(deletes));
  EXPECT_GE(recall_of(*rows.collection, gone), 0.95);
  rows.add_range(kRows, kRows + kRows / 10, 500);
  ASSERT_TRUE(rows.collection->compact({}, {}));
  const CollectionState after = rows.state();
  ASSERT_EQ(after.derived.size(), 1U);
  EXPECT_EQ(after.derived[0].index->vectors(), kRows);
  const auto removed = removed_vectors(before.segments, after.segments, 0);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->count(), gone.size());
  EXPECT_TRUE(removed->contains(3));

  Rows fresh;
  fresh.add_range(0, kRows + kRows / 10, kRows, gone);  // one segment, and so one build
  ASSERT_EQ(fresh.state().derived[0].index->vectors(), kRows);
  EXPECT_NE(rows.graph_bytes(), fresh.graph_bytes()) << "it was not extended";
  EXPECT_GE(recall_of(*rows.collection, gone), recall_of(*fresh.collection, gone) - 0.005);
  EXPECT_TRUE(rows.collection->verify());
}

TEST(GraphExtension, KnowsRowsByTheirSequencesHoweverTheyAreCut) {
  Rows rows;
  rows.add_range(0, 900, 500);
  rows.write({erase("d7"), erase("d8")});
  ASSERT_TRUE(rows.collection->seal());
  const CollectionState cut = rows.state();
  ASSERT_GT(cut.segments.size(), 1U);
  const auto same = removed_vectors(cut.segments, cut.segments, 0);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->count(), 0U);
  const auto first = std::span(cut.segments).first(1);
  EXPECT_FALSE(removed_vectors(first, cut.segments, 0)) << "most of it is new";
  EXPECT_FALSE(removed_vectors(std::span(cut.segments).subspan(1), cut.segments, 0))
      << "what is new stands before the rest";
  ASSERT_TRUE(rows.collection->compact({}, {}));
  const CollectionState merged = rows.state();
  const auto gone = removed_vectors(cut.segments, merged.segments, 0);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->count(), 2U);
  EXPECT_TRUE(gone->contains(7));
  EXPECT_FALSE(removed_vectors(merged.segments, cut.segments, 0))
      << "rows stand among those of the graph that it does not know";
}

}  // namespace
}  // namespace sibyl::store
