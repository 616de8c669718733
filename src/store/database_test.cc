#include "store/database.h"

#include <gtest/gtest.h>

#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

TEST(Database, CollectionsAreCreatedFoundListedAndDropped) {
  base::TemporaryDirectory folder;
  {
    auto database = *Database::open(folder.path(), {});
    EXPECT_TRUE(database->names().empty());
    ASSERT_TRUE(database->create("b", test_schema(), "{\"x\":1}"));
    ASSERT_TRUE(database->create("a.b-c_1", test_schema(), "{}"));
    EXPECT_EQ(database->create("b", test_schema(), "").error().code, Code::AlreadyExists);
    EXPECT_EQ(database->names(), (std::vector<std::string>{"a.b-c_1", "b"}));
    ASSERT_TRUE((*database->find("b"))->write({put(test_row("x", 1))}));
  }
  auto database = *Database::open(folder.path(), {});
  EXPECT_EQ(database->names(), (std::vector<std::string>{"a.b-c_1", "b"}));
  const auto held = *database->find("b");
  EXPECT_EQ(held->settings(), "{\"x\":1}");
  ASSERT_TRUE(database->drop("b"));
  const auto missing = database->find("b");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound);
  EXPECT_NE(missing.error().message.find("a.b-c_1"), std::string::npos);
  EXPECT_EQ(database->drop("b").error().code, Code::NotFound);
  // Who still holds it reads on, but writes nothing into a folder that may be someone else's.
  EXPECT_EQ(held->snapshot()->live_rows(), 1U);
  EXPECT_EQ(held->write({put(test_row("y", 1))}).error().code, Code::NotFound);
  EXPECT_FALSE(held->seal());
  ASSERT_TRUE(database->create("b", test_schema(), ""));
  EXPECT_EQ((*database->find("b"))->snapshot()->live_rows(), 0U);
}

TEST(Database, NamesThatAreNoNamesAreRefused) {
  base::TemporaryDirectory folder;
  auto database = *Database::open(folder.path(), {});
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("a/b"),
        std::string("-a"), std::string(".a"), std::string("a b"), std::string("a\0b", 3),
        std::string("ä"), std::string(65, 'a'), std::string("/etc")}) {
    const auto created = database->create(name, test_schema(), "");
    ASSERT_FALSE(created) << name;
    EXPECT_EQ(created.error().code, Code::InvalidArgument);
    EXPECT_EQ(database->find(name).error().code, Code::NotFound);
    EXPECT_EQ(database->drop(name).error().code, Code::NotFound);
  }
  EXPECT_TRUE(database->create(std::string(64, 'a'), test_schema(), ""));
  EXPECT_TRUE(database->create("_1", test_schema(), ""));
}

TEST(Database, SchemasThatCannotBeAreRefusedInWords) {
  base::TemporaryDirectory folder;
  auto database = *Database::open(folder.path(), {});
  const auto refused = [&](const Schema& schema, std::string_view words) {
    const auto created = database->create("c", schema, "");
    ASSERT_FALSE(created);
    EXPECT_NE(created.error().message.find(words), std::string::npos) << created.error().message;
  };
  Schema schema = test_schema();
  schema.vector_fields[0].dimension = 0;
  refused(schema, "dimension 0");
  schema.vector_fields[0].dimension = 32769;
  refused(schema, "32768");
  schema = test_schema();
  schema.text_fields = {"body", "body"};
  refused(schema, "twice");
  schema.text_fields = {""};
  refused(schema, "name");
  schema = test_schema();
  schema.language = "klingon";
  refused(schema, "klingon");
  schema = test_schema();
  schema.text_fields.assign(65, "x");
  refused(schema, "at most 64");
  EXPECT_TRUE(database->names().empty());
}

// What a crash leaves behind while a collection is made or dropped is no collection.
TEST(Database, LeftOversOfACrashAreRemoved) {
  base::TemporaryDirectory folder;
  auto& files = base::real_file_system();
  const std::string collections = folder.path() + "/collections";
  ASSERT_TRUE(files.create_directories(collections + "/.new-a-0011/x"));
  ASSERT_TRUE(files.create_directories(collections + "/.dropped-b-0011"));
  auto database = *Database::open(folder.path(), {});
  EXPECT_TRUE(database->names().empty());
  EXPECT_TRUE(files.list(collections)->empty());
}

TEST(Database, OrphansOfACrashAreRemovedAndForeignFilesStay) {
  base::TemporaryDirectory folder;
  const DatabaseOptions options = test_options(2);
  {
    auto database = *Database::open(folder.path(), options);
    const auto rows = *database->create("c", test_schema(), "");
    ASSERT_TRUE(rows->write({put(test_row("a", 1)), put(test_row("b", 1))}));
    database->settle();
  }
  const std::string collection = folder.path() + "/collections/c";
  for (const char* name : {"segment-00000077.rows", "segment-00000078.text-0.postings",
                           "MANIFEST.ab12.tmp", "notes.txt"}) {
    ASSERT_TRUE(base::replace_file(collection + "/" + name, "left over"));
  }
  auto database = *Database::open(folder.path(), options);
  EXPECT_FALSE(base::real_file_system().exists(collection + "/segment-00000077.rows"));
  EXPECT_FALSE(base::real_file_system().exists(collection + "/segment-00000078.text-0.postings"));
  EXPECT_FALSE(base::real_file_system().exists(collection + "/MANIFEST.ab12.tmp"));
  EXPECT_TRUE(base::real_file_system().exists(collection + "/notes.txt"));
  EXPECT_EQ((*database->find("c"))->snapshot()->live_rows(), 2U);
}

}  // namespace
}  // namespace sibyl::store
