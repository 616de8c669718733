#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

constexpr size_t kNewDimension = 3;

Schema next_schema(const Collection& rows) {
  Schema schema = rows.schema();
  schema.vector_fields = {{"document", kNewDimension}, {"chunks", 2}};
  schema.model = "other@2";
  return schema;
}

/// Vectors of a row follow from its source, so that a reader can check them.
std::vector<float> new_vector(std::string_view source) {
  const auto hash = static_cast<float>(base::hash64(source) % 1000);
  return {hash, 1, 2};
}

Result<std::vector<std::vector<std::vector<float>>>> make_vectors(std::span<const RowView> rows) {
  std::vector<std::vector<std::vector<float>>> made;
  for (const RowView& row : rows) {
    made.push_back({new_vector(row.source), {1, 2, 3, 4}});
  }
  return made;
}

void expect_new_generation(const Collection& rows) {
  EXPECT_EQ(rows.schema().generation, 1U);
  EXPECT_EQ(rows.schema().model, "other@2");
  const auto snapshot = rows.snapshot();
  const std::vector<RowRef> all = *snapshot->list("", 100000);
  const auto hits = snapshot->score_vectors(0, std::vector<float>{1, 0, 0}, all);
  ASSERT_TRUE(hits);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ((*hits)[i].score, new_vector(snapshot->row(all[i])->source)[0]);
  }
  const auto chunks = snapshot->score_vectors(1, std::vector<float>{0, 1}, all);
  ASSERT_TRUE(chunks);
  EXPECT_EQ(chunks->front().score, 4);
  EXPECT_EQ(chunks->front().part, 1U);
}

struct Filled {
  Filled() {
    database.reset();  // first: the old one may still be sealing and merging
    database = *Database::open("/data", options, files);
    rows = *database->create("c", test_schema(), "{}");
    for (const auto& batch : test_script(5, 60)) {
      EXPECT_TRUE(rows->write(batch));
      database->settle();
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
  CrashFileSystem files;  // in memory, as a real sync takes its time
  DatabaseOptions options = test_options(16);
  std::unique_ptr<Database> database;
  std::shared_ptr<Collection> rows;
};

TEST(ReplaceVectors, SwapsVectorsModelAndSettingsAndKeepsTheTexts) {
  Filled filled;
  const auto before = filled.rows->snapshot();
  const auto rows_before = see_rows(*before);
  const auto terms = before->analyze("river stone");
  const auto text_before = seen(*before, *before->search_text(0, terms, 20, nullptr));
  uint64_t last = 0;
  ASSERT_TRUE(filled.rows->replace_vectors(next_schema(*filled.rows), "{\"model\":\"other\"}",
                                           make_vectors, {}, [&](uint64_t done, uint64_t total) {
                                             EXPECT_LE(done, total);
                                             last = done;
                                           }));
  EXPECT_EQ(last, rows_before.size());
  expect_new_generation(*filled.rows);
  // A snapshot from before still answers with its own vectors.
  EXPECT_TRUE(before->search_vectors(0, test_queries()[1], 5, nullptr));
  filled.reopen();
  expect_new_generation(*filled.rows);
  EXPECT_EQ(filled.rows->settings(), "{\"model\":\"other\"}");
  const auto after = filled.rows->snapshot();
  EXPECT_EQ(see_rows(*after), rows_before);
  EXPECT_EQ(seen(*after, *after->search_text(0, terms, 20, nullptr)), text_before);
  Row row = test_row("more", 1);
  row.vectors = {new_vector(row.source), {5, 6}};
  EXPECT_TRUE(filled.rows->write({put(row)}));
  ASSERT_TRUE(filled.rows->compact({}, {}));
  EXPECT_TRUE(filled.rows->verify());
}

TEST(ReplaceVectors, StoppedOrFailedTheOldGenerationStaysWhole) {
  Filled filled;
  const auto before = see_rankings(*filled.rows->snapshot());
  std::stop_source stop;
  int calls = 0;
  const auto stopping = [&](std::span<const RowView> rows) {
    if (++calls == 2) {
      stop.request_stop();
    }
    return make_vectors(rows);
  };
  EXPECT_EQ(
      filled.rows->replace_vectors(next_schema(*filled.rows), "x", stopping, stop.get_token(), {})
          .error()
          .code,
      Code::Interrupted);
  const auto failing = [](std::span<const RowView>) {
    return Result<std::vector<std::vector<std::vector<float>>>>(
        fail(Code::Unavailable, "the encoder is away"));
  };
  EXPECT_EQ(
      filled.rows->replace_vectors(next_schema(*filled.rows), "x", failing, {}, {}).error().message,
      "the encoder is away");
  const auto wrong = [](std::span<const RowView> rows) {
    return Result<std::vector<std::vector<std::vector<float>>>>(
        std::vector<std::vector<std::vector<float>>>(rows.size(), {{1, 2}, {1, 2}}));
  };
  EXPECT_EQ(
      filled.rows->replace_vectors(next_schema(*filled.rows), "x", wrong, {}, {}).error().code,
      Code::InvalidData);
  EXPECT_EQ(see_rankings(*filled.rows->snapshot()), before);
  EXPECT_EQ(filled.rows->settings(), "{}");
  EXPECT_EQ(filled.rows->schema().generation, 0U);
  filled.reopen();
  EXPECT_EQ(see_rankings(*filled.rows->snapshot()), before);
}

TEST(ReplaceVectors, TextFieldsAndLanguageCannotChange) {
  Filled filled;
  Schema schema = next_schema(*filled.rows);
  schema.text_fields.push_back("title");
  EXPECT_EQ(filled.rows->replace_vectors(schema, "", make_vectors, {}, {}).error().code,
            Code::InvalidArgument);
}

// Writers go on with the old model until the swap; what they made for it is refused after.
TEST(ReplaceVectors, WritesGoOnMeanwhileAndNoneIsLost) {
  Filled filled;
  std::map<std::string, std::string> model = see_rows(*filled.rows->snapshot());
  std::atomic<bool> switched = false;
  std::atomic<uint64_t> written = 0;
  std::thread writer([&] {
    for (uint64_t version = 1000; !switched; ++version) {
      const Row row = test_row("w" + std::to_string(version % 50), version);
      const auto done = filled.rows->write({put(row)}, 0);
      if (!done) {
        EXPECT_EQ(done.error().code, Code::FailedPrecondition);
        break;
      }
      model[row.id] = row.source;
      ++written;
    }
  });
  const auto maker = [&](std::span<const RowView> rows) {
    for (const uint64_t goal = written + 20; written < goal;) {
      std::this_thread::yield();
    }
    return make_vectors(rows);
  };
  // The last rows get their vectors while writers wait, so the maker may not wait for them then.
  std::atomic<int> rounds = 0;
  const auto bounded = [&](std::span<const RowView> rows) {
    return ++rounds <= 3 ? maker(rows) : make_vectors(rows);
  };
  ASSERT_TRUE(filled.rows->replace_vectors(next_schema(*filled.rows), "{}", bounded, {}, {}));
  switched = true;
  writer.join();
  EXPECT_GE(written, 20U);
  EXPECT_EQ(see_rows(*filled.rows->snapshot()), model);
  expect_new_generation(*filled.rows);
  EXPECT_EQ(filled.rows->write({put(test_row("late", 1))}, 0).error().code,
            Code::FailedPrecondition);
}

}  // namespace
}  // namespace sibyl::store
