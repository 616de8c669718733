#pragma once

// For tests: a small collection with one text field and one vector field, and a script of changes.

#include <bit>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/random.h"
#include "store/database.h"

namespace sibyl::store {

inline constexpr size_t kTestDimension = 4;

inline Schema test_schema(bool unique_ids = true) {
  Schema schema;
  schema.text_fields = {"body"};
  schema.vector_fields = {{"document", kTestDimension}};
  schema.unique_ids = unique_ids;
  return schema;
}

/// A tail of so many rows, and background work only when a test says so.
inline DatabaseOptions test_options(uint64_t tail_rows_max) {
  DatabaseOptions options;
  options.tail_rows_max = tail_rows_max;
  options.background_threads = 0;
  options.check_delay_ms = 0;
  return options;
}

/// Everything of the row follows from the id and the version.
inline Row test_row(const std::string& id, uint64_t version) {
  static constexpr const char* kWords[] = {"river", "stone", "cloud", "garden", "window", "bridge"};
  base::Random random(base::hash64(id, version));
  Row row;
  row.id = id;
  row.content_hash = version;
  row.source = "{\"id\":\"" + id + "\",\"version\":" + std::to_string(version) + "}";
  row.passages = std::string("p\0q", 3) + std::to_string(version);
  row.metadata = "{\"version\":" + std::to_string(version) +
                 ",\"even\":" + (version % 2 == 0 ? "true" : "false") + "}";
  std::string text;
  for (uint64_t words = random.below(12); words > 0; --words) {
    text += std::string(text.empty() ? "" : " ") + kWords[random.below(1 + random.below(6))];
  }
  row.texts = {text};
  std::vector<float> vectors(random.below(4) * kTestDimension);
  for (float& value : vectors) {
    value = static_cast<float>(random.below(9)) / 4.0F - 1.0F;
  }
  row.vectors = {vectors};
  return row;
}

inline Change put(Row row) {
  return {Change::Kind::Put, std::move(row)};
}
inline Change erase(const std::string& id) {
  Change change;
  change.kind = Change::Kind::Delete;
  change.row.id = id;
  return change;
}

/// Adds, replacements and deletes over few ids, in batches.
inline std::vector<std::vector<Change>> test_script(uint64_t seed, size_t batches,
                                                    uint64_t ids = 40) {
  base::Random random(seed);
  std::vector<std::vector<Change>> script(batches);
  uint64_t version = 0;
  for (auto& batch : script) {
    for (uint64_t left = 1 + random.below(5); left > 0; --left) {
      const std::string id = "d" + std::to_string(random.below(ids));
      batch.push_back(random.below(4) == 0 ? erase(id) : put(test_row(id, ++version)));
    }
  }
  return script;
}

/// What a hit says, without where the row lies; scores as bits.
using SeenHit = std::tuple<std::string, uint64_t, uint32_t, uint32_t>;

inline std::vector<SeenHit> seen(const Snapshot& snapshot, const std::vector<Hit>& hits) {
  std::vector<SeenHit> result;
  for (const Hit& hit : hits) {
    const Result<RowView> row = snapshot.row(hit.ref);
    result.emplace_back(row ? std::string(row->id) : "?", hit.sequence, hit.part,
                        std::bit_cast<uint32_t>(hit.score));
  }
  return result;
}

inline std::vector<std::vector<float>> test_queries() {
  return {{1, 0, 0, 0}, {0.5F, -0.25F, 1, 0.75F}, {0, 0, 0, 0}, {-1, -1, -1, -1}};
}

/// Everything that readers can see of a collection, in one comparable value.
inline std::vector<SeenHit> see_rankings(const Snapshot& snapshot) {
  std::vector<SeenHit> all;
  const auto add = [&](const std::vector<Hit>& hits) {
    const std::vector<SeenHit> part = seen(snapshot, hits);
    all.insert(all.end(), part.begin(), part.end());
    all.emplace_back("--", 0, 0, 0);
  };
  const std::vector<RowRef> rows = *snapshot.list("", 100000);
  const auto filter = *Filter::parse("even = true");
  const auto selection = *snapshot.select(*filter);
  for (const std::vector<float>& query : test_queries()) {
    add(*snapshot.search_vectors(0, query, 7, nullptr));
    add(*snapshot.search_vectors(0, query, 1000, selection.get()));
    add(*snapshot.score_vectors(0, query, rows));
  }
  for (const char* question : {"river", "stones in the river", "window bridge cloud river", "no"}) {
    const std::vector<QueryTerm> terms = snapshot.analyze(question);
    add(*snapshot.search_text(0, terms, 7, nullptr));
    add(*snapshot.search_text(0, terms, 1000, selection.get()));
    add(*snapshot.score_text(0, terms, rows));
  }
  return all;
}

/// id -> source of all live rows.
inline std::map<std::string, std::string> see_rows(const Snapshot& snapshot) {
  std::map<std::string, std::string> rows;
  const std::vector<RowRef> refs = *snapshot.list("", 1000000);
  for (const RowRef& ref : refs) {
    const Result<RowView> row = snapshot.row(ref);
    rows[std::string(row->id)] = std::string(row->source);
  }
  return rows;
}

/// Applies a change to a plain map, the model that the store is compared with.
inline void apply_change(std::map<std::string, std::string>& model, const Change& change) {
  if (change.kind == Change::Kind::Put) {
    model[change.row.id] = change.row.source;
  } else {
    model.erase(change.row.id);
  }
}

}  // namespace sibyl::store
