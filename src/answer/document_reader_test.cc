#include "answer/document_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/gzip.h"
#include "base/json.h"

namespace sibyl::answer {
namespace {

class DocumentReaderTest : public ::testing::Test {
 protected:
  std::string put(const std::string& name, std::string_view bytes) {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  void read(const std::vector<std::string>& paths, ReadOptions options = {}) {
    documents_.clear();
    failures_.clear();
    outcome_ = DocumentReader(options).read(
        paths,
        [&](Document&& document, const std::string&) {
          order_.push_back(document.id);
          documents_[document.id] = std::move(document);
          return true;
        },
        [&](const ReadFailure& failure) {
          failures_.push_back(failure);
          return true;
        });
  }
  const std::string& path() const { return folder_.path(); }

  base::TemporaryDirectory folder_;
  std::map<std::string, Document> documents_;
  std::vector<std::string> order_;
  std::vector<ReadFailure> failures_;
  Result<void> outcome_;
};

TEST_F(DocumentReaderTest, FoldersAreReadByTypeInOrderWithRelativeIds) {
  put("b/page.html", "<title>P</title><p>Page</p>");
  put("a.md", "# Head\nBody");
  put("c.txt", "Plain\ntext\n");
  put("d.TXT.gz", base::gzip("Packed"));
  put("rows.jsonl", "{\"text\": \"one\"}\n\n{\"id\": \"own\", \"text\": \"two\"}\n");
  put(".hidden/x.txt", "no");
  put("e.bin", "no");
  read({path()});
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_TRUE(failures_.empty());
  EXPECT_EQ(order_, (std::vector<std::string>{"a.md", "b/page.html", "c.txt", "d.TXT.gz",
                                              "rows.jsonl#1", "own"}));
  EXPECT_EQ(documents_["c.txt"].text, "Plain\ntext");
  EXPECT_EQ(documents_["d.TXT.gz"].text, "Packed");
  // What a reader makes comes back from its JSON as it was.
  const auto again = parse_document(documents_["b/page.html"].source, "");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->title, "P");
  EXPECT_EQ(again->text, "Page");
}

TEST_F(DocumentReaderTest, APathThatIsALinkIsFollowedAndLinksInsideAreNot) {
  put("real/a.txt", "A text.");
  put("real/sub/b.txt", "Another text.");
  std::filesystem::create_directory_symlink("real", path() + "/link");
  std::filesystem::create_symlink("a.txt", path() + "/real/again.txt");
  std::filesystem::create_symlink("nowhere.txt", path() + "/real/broken.txt");
  std::filesystem::create_directory_symlink("..", path() + "/real/up");
  std::vector<std::string> links;
  ReadOptions options;
  options.on_link = [&](const std::string& link) {
    links.push_back(std::filesystem::path(link).filename().string());
  };
  read({path() + "/link"}, options);
  ASSERT_TRUE(outcome_.has_value()) << outcome_.error().message;
  EXPECT_TRUE(failures_.empty());
  EXPECT_EQ(order_, (std::vector<std::string>{"a.txt", "sub/b.txt"}));
  std::sort(links.begin(), links.end());
  EXPECT_EQ(links, (std::vector<std::string>{"again.txt", "broken.txt", "up"}));
  order_.clear();
  read({path() + "/real/again.txt"});
  EXPECT_EQ(order_, (std::vector<std::string>{"again.txt"}));
}

TEST_F(DocumentReaderTest, MissingAndUnknownPathsAreErrorsOfTheCall) {
  EXPECT_EQ(DocumentReader::find_files({path() + "/none"}).error().code, Code::NotFound);
  const std::string odd = put("x.bin", "x");
  EXPECT_EQ(DocumentReader::find_files({odd}).error().code, Code::InvalidArgument);
}

TEST_F(DocumentReaderTest, EncodingsAreDecodedAndGuessesSaid) {
  put("declared.html",
      "<meta charset=iso-8859-2><p>\xB3\xF3"
      "d\xBC</p>");
  put("guessed.txt", "caf\xE9 \x80 5");
  put("utf16.txt", std::string_view("\xFF\xFEh\0i\0", 6));
  put("guessed.csv", "text\ncaf\xE9\n");
  read({path()});
  ASSERT_TRUE(failures_.empty()) << failures_[0].error.message;
  EXPECT_EQ(documents_["declared.html"].text, "łódź");
  EXPECT_EQ(documents_["guessed.txt"].text, "café € 5");
  EXPECT_EQ(documents_["guessed.txt"].metadata, R"({"encoding_guessed":"windows-1252"})");
  EXPECT_EQ(documents_["utf16.txt"].text, "hi");
  EXPECT_EQ(documents_["guessed.csv#2"].text, "café");
}

TEST_F(DocumentReaderTest, CsvRowsWithQuotesMapAndTypes) {
  const std::string csv = put("faq.csv",
                              "key,subject,body,year,open\r\n"
                              "1,\"Say \"\"hi\"\"\",\"two\nlines\",2021,true\r\n"
                              "2,T,only,007,\r\n");
  ReadOptions options;
  options.columns = {{"id", "key"}, {"title", "subject"}, {"text", "body"}};
  read({csv}, options);
  ASSERT_TRUE(failures_.empty()) << failures_[0].error.message;
  EXPECT_EQ(documents_["1"].title, "Say \"hi\"");
  EXPECT_EQ(documents_["1"].text, "two\nlines");
  EXPECT_EQ(documents_["1"].metadata, R"({"year":2021,"open":true})");
  EXPECT_EQ(documents_["2"].metadata, R"({"year":"007"})");
}

TEST_F(DocumentReaderTest, CsvErrorsNameTheLineAndCostNoOtherRow) {
  read({put("a.csv", "id,text\n1,ok\n2,5\" pipe\n3,fine\n4\n5,last\n")});
  EXPECT_EQ(documents_.size(), 3U);
  ASSERT_EQ(failures_.size(), 2U);
  EXPECT_EQ(failures_[0].line, 3U);
  EXPECT_NE(failures_[0].error.message.find("stray quote"), std::string::npos);
  EXPECT_EQ(failures_[1].line, 5U);
  read({put("b.tsv", "a\tb\nx\ty\n")});
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_NE(failures_[0].error.message.find("--map text=COLUMN"), std::string::npos);
  read({put("c.csv", "titel;text\nA;B, C\n")});
  EXPECT_EQ(documents_["c.csv#2"].text, "B, C");
}

TEST_F(DocumentReaderTest, WrongFilesAreNamedAndOthersRead) {
  put("empty.txt", "");
  put("zeros.txt", std::string(1000, '\0'));
  put("zeros.jsonl", std::string(1000, '\0'));
  put("torn.txt.gz", base::gzip(std::string(5000, 'x')).substr(0, 20));
  put("long.jsonl", "{\"text\": \"" + std::string(5000, 'x') + "\"}\n{\"text\": \"short\"}\n");
  put("deep.html", [] {
    std::string html;
    for (int i = 0; i < 100'000; ++i) {
      html += "<div>";
    }
    return html;
  }());
  put("good.txt", "good");
  put("broken.pdf", "not a pdf");
  ReadOptions options;
  options.line_bytes_max = 2000;
  read({path()}, options);
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_EQ(documents_.size(), 2U);
  EXPECT_TRUE(documents_.contains("good.txt"));
  EXPECT_TRUE(documents_.contains("long.jsonl#2"));
  std::map<std::string, std::string> named;
  for (const ReadFailure& failure : failures_) {
    named[std::filesystem::path(failure.file).filename()] = failure.error.message;
  }
  EXPECT_EQ(named.size(), 7U);
  EXPECT_EQ(named["empty.txt"], "the file is empty");
  EXPECT_EQ(named["long.jsonl"], "line 1: is longer than 2000 bytes");
  EXPECT_EQ(named["broken.pdf"], "PDF: does not begin with %PDF-");
}

TEST_F(DocumentReaderTest, DuplicateIdsFailTheLaterRow) {
  read({put("a.jsonl", "{\"id\":\"x\",\"text\":\"1\"}\n{\"id\":\"x\",\"text\":\"2\"}\n")});
  EXPECT_EQ(documents_["x"].text, "1");
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_EQ(failures_[0].line, 2U);
  EXPECT_NE(failures_[0].error.message.find("a.jsonl:1"), std::string::npos);
}

TEST_F(DocumentReaderTest, PdfThroughTheConverter) {
  const std::string pdf = std::string(SIBYL_TEST_DATA) + "/answer/two_lines.pdf";
  read({pdf});
  if (!outcome_ && outcome_.error().code == Code::Unavailable) {
    GTEST_SKIP() << "pdftotext is missing (poppler-utils)";
  }
  ASSERT_TRUE(failures_.empty()) << failures_[0].error.message;
  EXPECT_EQ(documents_["two_lines.pdf"].text, "Kettles boil water.\nTeapots hold tea.");
}

TEST_F(DocumentReaderTest, AConverterThatHangsIsStopped) {
  // A program of that name that never ends stands first in the path.
  const std::string fake = put("bin/pdftotext", "#!/bin/sh\nexec sleep 600\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const std::string old_path = std::getenv("PATH");
  setenv("PATH", (path() + "/bin:" + old_path).c_str(), 1);
  ReadOptions options;
  options.converter_timeout_ms = 200;
  read({put("slow.pdf", "%PDF-1.4")}, options);
  setenv("PATH", old_path.c_str(), 1);
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_NE(failures_[0].error.message.find("was stopped"), std::string::npos);
}

}  // namespace
}  // namespace sibyl::answer
