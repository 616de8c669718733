// Large files are opened by their structure, and read whole in the background.

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

constexpr size_t kDimension = 512;
constexpr size_t kRows = 1200;  // 2.4 MB of vectors: blocks of 1 MiB that hold nothing else
constexpr const char* kFolder = "/data/collections/c/";

/// With a graph from `graph_vectors_min` vectors on.
DatabaseOptions options(uint64_t graph_vectors_min = 1'000'000) {
  DatabaseOptions options = test_options(100'000);
  options.graph_vectors_min = graph_vectors_min;
  options.checked_later_bytes_min = 1;
  options.flat_vectors_min = kRows;
  return options;
}

struct Filled {
  explicit Filled(size_t dimension = kDimension, size_t count = kRows) {
    auto database =
        *Database::open("/data", options(dimension == kDimension ? 1'000'000 : count), files);
    Schema schema = test_schema();
    schema.vector_fields = {{"document", dimension}};
    const auto rows = *database->create("c", schema, "{}");
    std::vector<Change> changes;
    base::Random random(1);
    for (size_t i = 0; i < count; ++i) {
      Row row;
      row.id = "d" + std::to_string(i);
      row.source = std::string(2'400'000 / count, 'x');
      row.texts = {"text"};
      row.vectors = {std::vector<float>(dimension)};
      for (float& value : row.vectors[0]) {
        value = static_cast<float>(random.normal());
      }
      changes.push_back(put(std::move(row)));
    }
    EXPECT_TRUE(rows->write(std::move(changes)));
    EXPECT_TRUE(rows->seal());
    database->settle();
  }
  std::string name_of(std::string_view ending) {
    const auto entries = *files.list(kFolder);
    for (const auto& entry : entries) {
      if (entry.name.ends_with(ending)) {
        return entry.name;
      }
    }
    return {};
  }
  size_t middle_of(const std::string& name) { return files.status(kFolder + name)->bytes / 2; }
  CrashFileSystem files;
};

std::vector<float> query() {
  std::vector<float> query(kDimension, 0);
  query[3] = 1;
  return query;
}

TEST(LateChecks, ALargeIndexAnswersAtOnceAndIsCheckedAfterwards) {
  Filled filled;
  auto database = *Database::open("/data", options(), filled.files);
  const auto rows = *database->find("c");
  EXPECT_EQ(rows->statistics().vector_fields[0].indexed_vectors, kRows);
  const auto before = seen(*rows->snapshot(), *rows->snapshot()->search_vectors(0, query(), 5, {}));
  EXPECT_EQ(before.size(), 5U);
  database->settle();
  EXPECT_EQ(rows->statistics().vector_fields[0].indexed_vectors, kRows);
  EXPECT_EQ(seen(*rows->snapshot(), *rows->snapshot()->search_vectors(0, query(), 5, {}))[0],
            before[0]);
  EXPECT_TRUE(rows->verify());
}

TEST(LateChecks, DamageInTheMiddleOfALargeFileIsNamedAndNothingIsAnsweredFromIt) {
  for (const auto& [ending, what] :
       {std::pair(".vectors", "vectors of field 'document'"), std::pair(".rows", "documents")}) {
    Filled filled;
    const std::string name = filled.name_of(ending);
    filled.files.flip(kFolder + name, filled.middle_of(name), 1);
    auto database = Database::open("/data", options(), filled.files);
    ASSERT_TRUE(database) << database.error().message;
    const auto rows = *(*database)->find("c");
    const auto snapshot = rows->snapshot();
    const RowRef row = *snapshot->find("d7");
    EXPECT_EQ(rows->statistics().trouble, "");
    (*database)->settle();
    const auto refused = snapshot->search_vectors(0, query(), 5, nullptr);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::DataLoss);
    EXPECT_NE(refused.error().message.find(name), std::string::npos);
    EXPECT_NE(refused.error().message.find(std::string("the ") + what + " of 1200 rows"),
              std::string::npos)
        << refused.error().message;
    EXPECT_FALSE(snapshot->row(row));
    EXPECT_FALSE(snapshot->search_text(0, snapshot->analyze("text"), 5, nullptr));
    EXPECT_EQ(rows->statistics().trouble, refused.error().message);
    // Nothing new is made from it, which would hide the damage for ever.
    ASSERT_TRUE(rows->write({erase("d1")}));
    EXPECT_EQ(rows->compact({}, {}).error().code, Code::DataLoss);
    EXPECT_EQ(rows->verify().error().code, Code::DataLoss);
  }
}

// The pause before the check is for the disk; neither a compaction nor the end waits for it.
TEST(LateChecks, WhatWaitsForTheFirstQuestionsGivesWay) {
  Filled filled;
  const std::string name = filled.name_of(".vectors");
  filled.files.flip(kFolder + name, filled.middle_of(name), 1);
  DatabaseOptions waiting = options();
  waiting.background_threads = 1;
  waiting.check_delay_ms = 3'600'000;
  auto database = *Database::open("/data", waiting, filled.files);
  const auto rows = *database->find("c");
  EXPECT_TRUE(rows->snapshot()->search_vectors(0, query(), 5, nullptr));
  EXPECT_EQ(rows->statistics().trouble, "");
  EXPECT_EQ(rows->compact({}, {}).error().code, Code::DataLoss);
  database.reset();  // first: the old one may still be sealing and merging
  database = *Database::open("/data", waiting, filled.files);
}

TEST(LateChecks, ACompactionRightAfterOpeningChecksFirst) {
  Filled filled;
  const std::string name = filled.name_of(".vectors");
  filled.files.flip(kFolder + name, filled.middle_of(name), 1);
  auto database = *Database::open("/data", options(), filled.files);
  const auto rows = *database->find("c");
  ASSERT_TRUE(rows->write({erase("d1")}));
  EXPECT_EQ(rows->compact({}, {}).error().code, Code::DataLoss);
}

TEST(LateChecks, AnIndexThatIsDamagedInTheMiddleIsMadeAgain) {
  constexpr size_t kSmall = 16;
  constexpr size_t kMany = 3500;  // 1.3 MB of nodes
  Filled filled(kSmall, kMany);
  const std::string name = filled.name_of(".graph");
  ASSERT_FALSE(name.empty());
  const size_t bytes = filled.files.status(kFolder + name)->bytes;
  ASSERT_GT(bytes, (size_t{1} << 20) + 100'000);
  for (size_t at = 0; at < 200; ++at) {
    filled.files.flip(kFolder + name, (size_t{1} << 20) + 500 * at, 7);
  }
  auto database = *Database::open("/data", options(kMany), filled.files);
  const auto rows = *database->find("c");
  EXPECT_EQ(rows->statistics().vector_fields[0].index, "graph");
  EXPECT_EQ(rows->statistics().vector_fields[0].indexed_vectors, kMany);
  const std::vector<float> question(kSmall, 0.25F);
  EXPECT_TRUE(rows->snapshot()->search_vectors(0, question, 5, nullptr));
  database->settle();
  EXPECT_EQ(rows->statistics().trouble, "");
  EXPECT_EQ(rows->statistics().vector_fields[0].indexed_vectors, kMany);
  EXPECT_NE(filled.name_of(".graph"), name);
  EXPECT_TRUE(rows->verify());
  EXPECT_EQ(rows->snapshot()->search_vectors(0, question, 5, nullptr)->size(), 5U);
}

TEST(LateChecks, TheStructureIsCheckedAtOnce) {
  Filled filled;
  const std::string name = filled.name_of(".vectors");
  filled.files.flip(kFolder + name, 200, 1);  // the places of the rows' vectors
  const auto database = Database::open("/data", options(), filled.files);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, Code::DataLoss);
  EXPECT_NE(database.error().message.find(name), std::string::npos);
}

}  // namespace
}  // namespace sibyl::store
