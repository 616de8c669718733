#include "store/collection.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

/// A database in a folder of its own, with the collection "c".
struct Opened {
  explicit Opened(const DatabaseOptions& options, const Schema& schema = test_schema())
      : options_(options) {
    database.reset();  // first: the old one may still be sealing and merging
    database = *Database::open("/data", options_, files);
    rows = *database->create("c", schema, "{}");
  }
  void reopen() {
    database->settle();
    rows.reset();
    database.reset();
    auto again = Database::open("/data", options_, files);
    ASSERT_TRUE(again) << again.error().message;
    database = std::move(*again);
    rows = *database->find("c");
  }
  CrashFileSystem files;  // in memory, as a real sync takes its time
  DatabaseOptions options_;
  std::unique_ptr<Database> database;
  std::shared_ptr<Collection> rows;
};

TEST(Collection, RowsComeBackAsTheyWereGiven) {
  Opened opened(test_options(2));
  const Row row = test_row("one", 3);
  ASSERT_TRUE(opened.rows->write({put(row), put(test_row("two", 1)), put(test_row("x", 2))}));
  for (int round = 0; round < 2; ++round) {
    const auto snapshot = opened.rows->snapshot();
    const auto ref = snapshot->find("one");
    ASSERT_TRUE(ref);
    const auto view = snapshot->row(*ref);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->id, "one");
    EXPECT_EQ(view->sequence, 1U);
    EXPECT_EQ(view->row_key, 1);
    EXPECT_EQ(view->content_hash, 3U);
    EXPECT_EQ(view->source, row.source);
    EXPECT_EQ(view->passages, row.passages);
    EXPECT_EQ(view->metadata, row.metadata);
    ASSERT_EQ(view->texts.size(), 1U);
    EXPECT_EQ(view->texts[0], row.texts[0]);
    EXPECT_FALSE(snapshot->find("three"));
    opened.reopen();
  }
}

TEST(Collection, OutcomesAndSequencesTellWhatHappened) {
  Opened opened(test_options(3));
  const auto first = opened.rows->write({put(test_row("a", 1)), put(test_row("a", 2)), erase("a"),
                                         erase("a"), put(test_row("b", 1))});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->sequence, 5U);
  EXPECT_EQ(first->outcomes,
            (std::vector<Outcome>{Outcome::Added, Outcome::Updated, Outcome::Deleted,
                                  Outcome::NotThere, Outcome::Added}));
  ASSERT_TRUE(opened.rows->seal());
  const auto second = opened.rows->write({put(test_row("b", 2)), put(test_row("a", 3))});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->outcomes, (std::vector<Outcome>{Outcome::Updated, Outcome::Added}));
  EXPECT_EQ(opened.rows->snapshot()->live_rows(), 2U);
  EXPECT_EQ(opened.rows->write({})->sequence, 7U);
}

TEST(Collection, RowKeysStayWithADocumentAndAreNeverReused) {
  Opened opened(test_options(2));
  const auto key = [&](const std::string& id) {
    const auto snapshot = opened.rows->snapshot();
    return snapshot->row(*snapshot->find(id))->row_key;
  };
  ASSERT_TRUE(opened.rows->write({put(test_row("a", 1)), put(test_row("b", 1))}));
  const int64_t a = key("a");
  ASSERT_TRUE(opened.rows->write({put(test_row("a", 2))}));
  EXPECT_EQ(key("a"), a);
  opened.reopen();
  EXPECT_EQ(key("a"), a);
  ASSERT_TRUE(opened.rows->write({erase("a"), put(test_row("a", 3))}));
  EXPECT_GT(key("a"), key("b"));
}

TEST(Collection, SnapshotsStayAsTheyWere) {
  Opened opened(test_options(4));
  ASSERT_TRUE(opened.rows->write({put(test_row("a", 1)), put(test_row("b", 1))}));
  const auto before = opened.rows->snapshot();
  const auto seen_before = see_rankings(*before);
  for (const auto& batch : test_script(9, 20)) {
    ASSERT_TRUE(opened.rows->write(batch));
    opened.database->settle();
  }
  ASSERT_TRUE(opened.rows->write({erase("a"), put(test_row("b", 9))}));
  ASSERT_TRUE(opened.rows->compact({}, {}));
  EXPECT_EQ(see_rankings(*before), seen_before);
  EXPECT_EQ(before->live_rows(), 2U);
  EXPECT_FALSE(opened.rows->snapshot()->find("a"));
}

class Ranking : public testing::TestWithParam<bool> {};

// The promise that the whole layout rests on: where a row lies changes no bit of any score.
TEST_P(Ranking, IsTheSameHoweverRowsAreCutIntoSegments) {
  std::vector<SeenHit> expected;
  for (const uint64_t tail : {1'000'000, 100, 7, 3, 1}) {
    Opened opened(test_options(tail), test_schema(GetParam()));
    for (const auto& batch : test_script(11, 60)) {
      ASSERT_TRUE(opened.rows->write(batch));
      opened.database->settle();
    }
    const auto found = see_rankings(*opened.rows->snapshot());
    if (expected.empty()) {
      expected = found;
      EXPECT_GT(expected.size(), 200U);
    }
    EXPECT_EQ(found, expected) << "tail of " << tail;
    opened.reopen();
    EXPECT_EQ(see_rankings(*opened.rows->snapshot()), expected) << "reopened, tail of " << tail;
    ASSERT_TRUE(opened.rows->compact({}, {}));
    EXPECT_LE(opened.rows->statistics().sealed_segments, 1U);
    EXPECT_EQ(opened.rows->statistics().deleted_rows, 0U);
    EXPECT_EQ(see_rankings(*opened.rows->snapshot()), expected) << "compacted, tail of " << tail;
    opened.reopen();
    EXPECT_EQ(see_rankings(*opened.rows->snapshot()), expected) << "compacted and reopened";
    EXPECT_TRUE(opened.rows->verify());
  }
}

INSTANTIATE_TEST_SUITE_P(IdsUniqueAndNot, Ranking, testing::Bool());

// Worked by hand with N 3, lengths 2, 1 and 3: average 2.
TEST(Collection, Bm25CountsLiveRowsOnly) {
  Opened opened(test_options(2));
  const auto row = [](const std::string& id, const std::string& text) {
    Row made;
    made.id = id;
    made.texts = {text};
    made.vectors = {{}};
    return made;
  };
  ASSERT_TRUE(opened.rows->write({put(row("a", "apple banana")), put(row("b", "apple")),
                                  put(row("c", "cherry apple apple")), put(row("d", "apple")),
                                  put(row("b", "cherry")), erase("d")}));
  const auto snapshot = opened.rows->snapshot();
  const auto hits = snapshot->search_text(0, snapshot->analyze("apples"), 10, nullptr);
  ASSERT_TRUE(hits);
  ASSERT_EQ(hits->size(), 2U);
  const double idf = std::log(1 + 1.5 / 2.5);
  EXPECT_EQ(seen(*snapshot, *hits)[0],
            (SeenHit{"c", 3, 0,
                     std::bit_cast<uint32_t>(
                         static_cast<float>(idf * (2 / (2 + 1.5 * (0.25 + 0.75 * 1.5)))))}));
  EXPECT_EQ((*hits)[1].score, static_cast<float>(idf * (1 / (1 + 1.5))));
}

TEST(Collection, EqualScoresAreOrderedBySequence) {
  Opened opened(test_options(3));
  for (const char* id : {"z", "m", "a", "q"}) {
    Row row = test_row(id, 1);
    row.texts = {"same words"};
    row.vectors = {{1, 0, 0, 0}};
    ASSERT_TRUE(opened.rows->write({put(row)}));
    opened.database->settle();
  }
  const auto snapshot = opened.rows->snapshot();
  std::vector<std::string> ids;
  for (const auto& hit :
       seen(*snapshot, *snapshot->search_vectors(0, test_queries()[0], 3, nullptr))) {
    ids.push_back(std::get<0>(hit));
  }
  for (const auto& hit :
       seen(*snapshot, *snapshot->search_text(0, snapshot->analyze("words"), 3, nullptr))) {
    ids.push_back(std::get<0>(hit));
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"z", "m", "a", "z", "m", "a"}));
}

TEST(Collection, ListsInIdOrderPageByPage) {
  Opened opened(test_options(5));
  std::map<std::string, std::string> model;
  for (const auto& batch : test_script(21, 40)) {
    for (const Change& change : batch) {
      apply_change(model, change);
    }
    ASSERT_TRUE(opened.rows->write(batch));
    opened.database->settle();
  }
  const auto snapshot = opened.rows->snapshot();
  std::map<std::string, std::string> listed;
  std::string after;
  while (true) {
    const auto page = snapshot->list(after, 4);
    ASSERT_TRUE(page);
    if (page->empty()) {
      break;
    }
    EXPECT_LE(page->size(), 4U);
    for (const RowRef& ref : *page) {
      const auto row = snapshot->row(ref);
      EXPECT_GT(std::string(row->id), after);
      after = row->id;
      listed[after] = row->source;
    }
  }
  EXPECT_EQ(listed, model);
}

TEST(Collection, IdsThatAreNotUniqueStandOnSeveralRows) {
  Opened opened(test_options(2), test_schema(false));
  ASSERT_TRUE(opened.rows->write({put(test_row("a", 1)), put(test_row("a", 2)),
                                  put(test_row("b", 1)), put(test_row("a", 3))}));
  EXPECT_EQ(opened.rows->snapshot()->live_rows(), 4U);
  // A page never ends between rows of one id, as the next starts after it.
  EXPECT_EQ(opened.rows->snapshot()->list("", 1)->size(), 3U);
  EXPECT_EQ(opened.rows->snapshot()->list("a", 1)->size(), 1U);
  EXPECT_EQ(opened.rows->write({erase("a")})->outcomes[0], Outcome::Deleted);
  EXPECT_EQ(opened.rows->snapshot()->live_rows(), 1U);
  opened.reopen();
  EXPECT_EQ(opened.rows->snapshot()->live_rows(), 1U);
}

TEST(Collection, AWrongRowRefusesTheWholeCallBeforeAnythingIsWritten) {
  Opened opened(test_options(100));
  const auto refused = [&](Row row, Code code, std::string_view words) {
    const auto done = opened.rows->write({put(test_row("good", 1)), put(std::move(row))});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, code) << done.error().message;
    EXPECT_NE(done.error().message.find(words), std::string::npos) << done.error().message;
    EXPECT_EQ(opened.rows->snapshot()->live_rows(), 0U);
  };
  Row row = test_row("bad", 1);
  row.vectors = {{1, 2, 3}};
  refused(row, Code::InvalidData, "dimension 4");
  row.vectors = {{1, 2, 3, std::numeric_limits<float>::quiet_NaN()}};
  refused(row, Code::InvalidData, "'document'");
  row.vectors = {};
  refused(row, Code::InvalidData, "1 vector fields");
  row = test_row("bad", 1);
  row.texts = {};
  refused(row, Code::InvalidData, "1 text fields");
  row = test_row("bad", 1);
  row.metadata = "[1]";
  refused(row, Code::InvalidData, "object");
  row.metadata = "{";
  refused(row, Code::InvalidData, "metadata");
  refused(test_row("", 1), Code::InvalidData, "id");
  refused(test_row(std::string(1025, 'x'), 1), Code::InvalidData, "1025");
  refused(test_row("\xFF", 1), Code::InvalidData, "UTF-8");
  EXPECT_FALSE(opened.rows->write({erase("")}));
}

TEST(Collection, LimitsAreNamed) {
  DatabaseOptions options = test_options(100);
  options.rows_max = 2;
  options.row_bytes_max = 2000;
  Opened opened(options);
  Row row = test_row("large", 1);
  row.source = std::string(3000, 'x');
  const auto large = opened.rows->write({put(row)});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::TooLarge);
  EXPECT_NE(large.error().message.find("row_bytes_max"), std::string::npos);
  ASSERT_TRUE(opened.rows->write({put(test_row("a", 1)), put(test_row("b", 1))}));
  const auto full = opened.rows->write({put(test_row("c", 1))});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::ResourceExhausted);
  EXPECT_NE(full.error().message.find("rows_max"), std::string::npos);
  ASSERT_TRUE(opened.rows->write({erase("a")}));
  EXPECT_TRUE(opened.rows->write({put(test_row("c", 1))}));
}

TEST(Collection, QueriesThatCannotBeAreRefusedInWords) {
  Opened opened(test_options(100));
  ASSERT_TRUE(opened.rows->write({put(test_row("a", 1))}));
  const auto snapshot = opened.rows->snapshot();
  const std::vector<float> three = {1, 2, 3};
  const std::vector<float> nan = {1, 2, 3, std::nanf("")};
  EXPECT_EQ(snapshot->search_vectors(0, three, 5, nullptr).error().code, Code::InvalidArgument);
  EXPECT_EQ(snapshot->search_vectors(0, nan, 5, nullptr).error().code, Code::InvalidArgument);
  EXPECT_EQ(snapshot->search_vectors(1, test_queries()[0], 5, nullptr).error().code,
            Code::InvalidArgument);
  EXPECT_EQ(snapshot->search_vectors(0, test_queries()[0], 20000, nullptr).error().code,
            Code::TooLarge);
  EXPECT_EQ(snapshot->search_text(1, {}, 5, nullptr).error().code, Code::InvalidArgument);
  const std::vector<RowRef> wrong = {{7, 0}};
  EXPECT_EQ(snapshot->score_text(0, {}, wrong).error().code, Code::InvalidArgument);
  EXPECT_EQ(snapshot->row({0, 99}).error().code, Code::NotFound);
  const auto filter = *Filter::parse("even = true");
  const auto selection = *snapshot->select(*filter);
  ASSERT_TRUE(opened.rows->write({put(test_row("b", 1))}));
  EXPECT_EQ(opened.rows->snapshot()->search_text(0, {}, 5, selection.get()).error().code,
            Code::InvalidArgument);
}

TEST(Collection, SettingsAndStatisticsSurviveAReopening) {
  Opened opened(test_options(3));
  ASSERT_TRUE(opened.rows->set_settings(R"({"pipeline":"bm25"})"));
  for (const auto& batch : test_script(31, 30)) {
    ASSERT_TRUE(opened.rows->write(batch));
    opened.database->settle();
  }
  const CollectionStatistics before = opened.rows->statistics();
  ASSERT_TRUE(opened.rows->set_settings("{}"));  // with rows in the tail
  opened.reopen();
  EXPECT_EQ(opened.rows->settings(), "{}");
  const CollectionStatistics after = opened.rows->statistics();
  EXPECT_EQ(after.live_rows, before.live_rows);
  EXPECT_EQ(after.sequence, before.sequence);
  EXPECT_EQ(after.sealed_segments, before.sealed_segments);
  EXPECT_GT(after.disk_bytes, after.log_bytes);
  EXPECT_EQ(opened.rows->schema().vector_fields, test_schema().vector_fields);
}

TEST(Collection, CompactionCanBeStopped) {
  Opened opened(test_options(3));
  for (const auto& batch : test_script(41, 30)) {
    ASSERT_TRUE(opened.rows->write(batch));
    opened.database->settle();
  }
  const auto before = see_rankings(*opened.rows->snapshot());
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = opened.rows->compact(stop.get_token(), {});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  EXPECT_EQ(see_rankings(*opened.rows->snapshot()), before);
  uint64_t last = 0;
  ASSERT_TRUE(opened.rows->compact({}, [&](uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    EXPECT_GE(done, last);
    last = done;
  }));
  EXPECT_EQ(last, opened.rows->snapshot()->live_rows());
}

}  // namespace
}  // namespace sibyl::store
