// Hostile bytes for the readers of log, manifest and segment; what crosses them is tested in
// tests/store.

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "index/memory_view.h"
#include "store/internal/crash_file_system.h"
#include "store/internal/iso_date.h"
#include "store/internal/log_reader.h"
#include "store/internal/log_writer.h"
#include "store/internal/manifest.h"
#include "store/internal/segment.h"
#include "store/internal/store_fixture.h"
#include "store/internal/typed_metadata.h"

namespace sibyl::store {
namespace {

Manifest test_manifest() {
  Manifest manifest;
  manifest.schema = test_schema();
  manifest.schema.model = "m@1";
  manifest.settings = "{}";
  manifest.sealed_sequence = 90;
  manifest.first_log = 4;
  manifest.next_number = 9;
  manifest.segments = {{2, 10, 1, 40, {0, 3, 9}}, {5, 300, 41, 90, {}}};
  manifest.files = {{"rows", 0, 0, {2}, "segment-00000002.rows", 77},
                    {"graph", 1, 3, {2, 5}, "index-00000008.graph", 1}};
  return manifest;
}

TEST(Manifest, IsReadBackAsItWasWritten) {
  const std::string bytes = encode_manifest(test_manifest());
  const auto read = decode_manifest(bytes, "MANIFEST");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode_manifest(*read), bytes);
  EXPECT_EQ(read->segments[0].dead, (std::vector<uint32_t>{0, 3, 9}));
  EXPECT_EQ(read->files[1].segments, (std::vector<uint64_t>{2, 5}));
  EXPECT_EQ(read->schema.model, "m@1");
}

TEST(Manifest, CutsAndFlipsAreDamage) {
  const std::string bytes = encode_manifest(test_manifest());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    EXPECT_EQ(decode_manifest(damaged, "MANIFEST").error().code, Code::DataLoss) << at;
    EXPECT_EQ(decode_manifest(bytes.substr(0, at), "MANIFEST").error().code, Code::DataLoss) << at;
  }
}

// A checksum that fits does not make sense of what it covers.
TEST(Manifest, ContentsThatCannotBeAreDamage) {
  const auto refused = [](const Manifest& manifest) {
    return !decode_manifest(encode_manifest(manifest), "MANIFEST");
  };
  Manifest manifest = test_manifest();
  manifest.files[0].name = "../../etc/passwd";
  EXPECT_TRUE(refused(manifest));
  manifest = test_manifest();
  manifest.files[0].segments = {77};
  EXPECT_TRUE(refused(manifest));
  manifest = test_manifest();
  manifest.segments[1].first_sequence = 40;
  EXPECT_TRUE(refused(manifest));
  manifest = test_manifest();
  manifest.segments[1].last_sequence = 91;
  EXPECT_TRUE(refused(manifest));
  manifest = test_manifest();
  manifest.segments[0].dead = {0, 3, 10};
  EXPECT_TRUE(refused(manifest));
  manifest = test_manifest();
  manifest.segments[0].rows = 0;
  EXPECT_TRUE(refused(manifest));
}

std::string bytes_of(CrashFileSystem& files, const std::string& path) {
  return std::string((*files.map(path))->bytes());
}

TEST(Log, RecordsComeBackAndTheLastMarkSaysThatTheyWereSynced) {
  CrashFileSystem files;
  auto log = *LogWriter::create(files, "/data/log", 3);
  const Row row = test_row("a", 1);
  const std::string payload = encode_put(row, 5);
  log->add(RecordType::Put, 1, 1, payload, base::crc32(payload));
  log->add(RecordType::Delete, 2, 0, encode_delete("b"), base::crc32(encode_delete("b")));
  ASSERT_TRUE(log->commit());
  const std::string bytes = bytes_of(files, "/data/log");
  EXPECT_EQ(bytes.size(), log->bytes());
  auto read = read_log(bytes, "log", 3, 0);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->header_ok && read->marked && !read->torn && !read->ended && !read->copy);
  ASSERT_EQ(read->changes.size(), 2U);
  Row again;
  uint64_t generation = 0;
  ASSERT_TRUE(decode_put(read->changes[0].payload, again, generation));
  EXPECT_EQ(generation, 5U);
  EXPECT_EQ(again.source, row.source);
  EXPECT_EQ(again.vectors, row.vectors);
  EXPECT_FALSE(read_log(bytes, "log", 4, 0)->header_ok);
  ASSERT_TRUE(log->end(2));
  EXPECT_TRUE(read_log(bytes_of(files, "/data/log"), "log", 3, 0)->ended);
  EXPECT_FALSE(read_log(bytes_of(files, "/data/log") + "x", "log", 3, 0));
}

TEST(Log, RandomBytesAreTornOrDamagedButNeverRead) {
  base::Random random(8);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random.below(2000), '\0');
    for (char& c : bytes) {
      c = static_cast<char>(random.below(5));  // small numbers look like lengths and types
    }
    const auto read = read_log(bytes, "log", 1, 0);
    if (read) {
      EXPECT_TRUE(read->changes.empty());
      EXPECT_FALSE(read->header_ok);
    }
  }
}

// Each place claims a long record: the search for a whole one must give up, not take for ever.
TEST(Log, TheSearchForALaterRecordIsBounded) {
  CrashFileSystem files;
  ASSERT_TRUE(LogWriter::create(files, "/data/log", 1));
  std::string bytes = bytes_of(files, "/data/log");
  std::string bait;
  base::put_u32(bait, 0);
  base::put_u32(bait, 1'900'000);
  base::put_u64(bait, 33);
  bait += std::string(16, '\0') + '\1';
  while (bytes.size() < 2'000'000) {
    bytes += bait;
  }
  const auto read = read_log(bytes, "log", 1, 7);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::DataLoss);
  EXPECT_NE(read.error().message.find("sequence 8"), std::string::npos);
}

TEST(Log, PayloadsThatAreCutDoNotDecode) {
  const std::string payload = encode_put(test_row("id", 3), 1);
  for (size_t size = 0; size < payload.size(); ++size) {
    Row row;
    uint64_t generation = 0;
    EXPECT_FALSE(decode_put(std::string_view(payload).substr(0, size), row, generation)) << size;
  }
  std::string id;
  EXPECT_FALSE(decode_delete(encode_delete("abc") + "x", id));
  EXPECT_FALSE(decode_delete("", id));
}

TEST(TypedMetadata, HostileBytesEndTheWalk) {
  const std::string typed = *encode_typed_metadata(
      R"({"a": {"b": [1, 2.5, "x", true, null, {"c": 1}]}, "z": 18446744073709551615})");
  const std::vector<std::string> path = {"a", "b"};
  ASSERT_TRUE(find_value(typed, path));
  EXPECT_EQ(find_value(typed, path)->type, ValueType::List);
  const std::vector<std::string> large = {"z"};
  EXPECT_EQ(find_value(typed, large)->number, 18446744073709551615.0);
  base::Random random(9);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = typed.substr(0, random.below(typed.size() + 1));
    if (!damaged.empty()) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    TypedValue value;
    if (const auto found = find_value(damaged, path)) {
      TypedReader reader(found->text);
      while (reader.next(value)) {
      }
    }
  }
}

TEST(IsoDate, KnowsDatesFromOtherTexts) {
  EXPECT_EQ(parse_iso_date("1970-01-02"), 86'400'000'000);
  EXPECT_EQ(parse_iso_date("1970-01-01T00:00:01.5Z"), 1'500'000);
  EXPECT_EQ(parse_iso_date("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(parse_iso_date("1969-12-31 23:59-0001"), 0);
  for (const char* text :
       {"", "2020", "2020-13-01", "2020-02-30", "2020-1-01", "2020-01-01x", "2020-01-01T",
        "2020-01-01T25:00", "2020-01-01T10:00.Z", "2020-01-01T10:00+1", "20200101"}) {
    EXPECT_FALSE(parse_iso_date(text)) << text;
  }
}

}  // namespace
}  // namespace sibyl::store
