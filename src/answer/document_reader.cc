#include "answer/document_reader.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "answer/internal/csv_documents.h"
#include "answer/internal/file_finder.h"
#include "answer/internal/html_reader.h"
#include "answer/internal/html_tree.h"
#include "answer/internal/markdown_reader.h"
#include "answer/internal/pdf_reader.h"
#include "answer/internal/structured_text.h"
#include "base/csv.h"
#include "base/file_system.h"
#include "base/gzip.h"
#include "base/json.h"
#include "base/log.h"
#include "text/encoding.h"
#include "text/utf8.h"

namespace sibyl::answer {
namespace {

using internal::FileType;
using internal::FoundFile;
using OnDocument = std::function<bool(Document&&, const std::string& file)>;
using OnFailure = std::function<bool(const ReadFailure&)>;

/// Plain text: paragraphs as they stand.
Result<Document> read_plain(std::string_view text) {
  Document document;
  internal::StructuredText out;
  out.add_verbatim(text);
  out.finish(document);
  if (document.text.empty()) {
    return fail(Code::InvalidData, "text: holds nothing but white space");
  }
  return document;
}

void warn_of_guess(const FoundFile& file, std::string_view encoding) {
  base::log_warning("answer", "{}: neither UTF-8 nor declared: read as {}", file.path, encoding);
}

/// A guess stands in the metadata, so that it can be found again.
void mark_guess(std::string_view encoding, Document& document) {
  auto metadata = base::parse_json(document.metadata.empty() ? "{}" : document.metadata);
  if (metadata) {
    (*metadata)["encoding_guessed"] = encoding;
    document.metadata = base::dump_json(*metadata);
  }
}

/// Fields that are not UTF-8 are decoded; the encoding's name when it was guessed, else empty.
Result<std::string> decode_fields(std::vector<std::string>& fields) {
  std::string guessed;
  for (std::string& field : fields) {
    if (text::is_utf8(field)) {
      continue;
    }
    auto decoded = text::decode_text(field);
    if (!decoded) {
      return pass_on(decoded);
    }
    field = std::move(decoded->utf8);
    guessed = decoded->encoding;
  }
  return guessed;
}

/// One call of DocumentReader::read.
class ReadRun {
 public:
  ReadRun(const ReadOptions& options, const OnDocument& on_document, const OnFailure& on_failure)
      : options_(options), on_document_(on_document), on_failure_(on_failure) {}

  Result<void> read(const std::vector<FoundFile>& files) {
    for (const FoundFile& file : files) {
      if (options_.stop.stop_requested()) {
        return fail(Code::Interrupted, "reading was stopped before '{}'", file.path);
      }
      if (stopped_) {
        break;
      }
      if (auto done = read_one(file); !done) {
        // What is missing on this machine fails every file of the kind: say so once, at the top.
        if (done.error().code == Code::Unavailable) {
          return fail(Code::Unavailable, "{}: {}", file.path, done.error().message);
        }
        fail_file(file, done.error());
      }
    }
    return {};
  }

 private:
  Result<void> read_one(const FoundFile& file) {
    switch (file.type) {
      case FileType::Jsonl:
        return read_jsonl(file);
      case FileType::Csv:
      case FileType::Tsv:
        return read_csv(file);
      case FileType::Pdf:
        return read_pdf_file(file);
      default:
        return read_page(file);
    }
  }

  void emit(Document&& document, const FoundFile& file, uint64_t line) {
    const auto [first, is_new] =
        ids_.emplace(document.id, line == 0 ? file.path : fmt::format("{}:{}", file.path, line));
    if (!is_new) {
      fail_row(file, line, document.id,
               Error{Code::InvalidData,
                     fmt::format("id: '{}' was given already by {}; ids must differ", document.id,
                                 first->second),
                     "id"});
      return;
    }
    stopped_ = !on_document_(std::move(document), file.path) || stopped_;
  }
  void fail_row(const FoundFile& file, uint64_t line, const std::string& id, const Error& error) {
    stopped_ = !on_failure_({file.path, line, id, error}) || stopped_;
  }
  void fail_file(const FoundFile& file, const Error& error) { fail_row(file, 0, file.id, error); }

  Result<std::string> file_bytes(const FoundFile& file, uint64_t bytes_max) const {
    auto bytes = base::read_file(file.path, bytes_max);
    if (bytes && bytes->empty()) {
      return fail(Code::InvalidData, "the file is empty");
    }
    if (bytes && (file.gzip || base::is_gzip(*bytes))) {
      return base::gunzip(*bytes, bytes_max);
    }
    return bytes;
  }

  Result<text::DecodedText> file_text(const FoundFile& file) const {
    const bool is_html = file.type == FileType::Html;
    auto bytes = file_bytes(
        file, is_html ? std::min<uint64_t>(options_.file_bytes_max, internal::kHtmlBytesMax)
                      : options_.file_bytes_max);
    if (!bytes) {
      return pass_on(bytes);
    }
    if (bytes->empty()) {
      return fail(Code::InvalidData, "the file is empty");
    }
    return text::decode_text(*bytes, is_html ? internal::declared_charset(*bytes) : std::string());
  }

  /// HTML, Markdown and text: one document a file.
  Result<void> read_page(const FoundFile& file) {
    auto decoded = file_text(file);
    if (!decoded) {
      return pass_on(decoded);
    }
    auto document = file.type == FileType::Html
                        ? internal::read_html(decoded->utf8, options_.html_depth_max)
                    : file.type == FileType::Markdown ? internal::read_markdown(decoded->utf8)
                                                      : read_plain(decoded->utf8);
    if (!document) {
      return pass_on(document);
    }
    if (decoded->guessed) {
      warn_of_guess(file, decoded->encoding);
      mark_guess(decoded->encoding, *document);
    }
    finish_page(std::move(*document), file);
    return {};
  }

  Result<void> read_pdf_file(const FoundFile& file) {
    auto bytes = file_bytes(file, options_.file_bytes_max);
    if (!bytes) {
      return pass_on(bytes);
    }
    if (bytes->find("%PDF-") > 1024) {
      return fail(Code::InvalidData, "PDF: does not begin with %PDF-");
    }
    Result<Document> document;
    if (file.gzip) {
      const base::TemporaryDirectory folder;
      const std::string unpacked = base::join_path(folder.path(), "file.pdf");
      if (auto written = base::replace_file(unpacked, *bytes); !written) {
        return written;
      }
      document = internal::read_pdf(unpacked, options_);
    } else {
      document = internal::read_pdf(file.path, options_);
    }
    if (!document) {
      return pass_on(document);
    }
    finish_page(std::move(*document), file);
    return {};
  }

  void finish_page(Document&& document, const FoundFile& file) {
    document.id = file.id;
    if (document.metadata.empty()) {
      document.metadata = "{}";
    }
    document.source = document_to_json(document);
    if (document.id.size() > kDocumentIdBytesMax) {
      fail_file(file, Error{Code::InvalidData, "the path is longer than an id may be", "id"});
      return;
    }
    emit(std::move(document), file, 0);
  }

  Result<void> read_csv(const FoundFile& file) {
    std::string first_line;
    auto peeked =
        base::for_each_line(file.path, options_.line_bytes_max, [&](const base::Line& line) {
          first_line = line.text;
          return false;
        });
    if (!peeked) {
      return peeked;
    }
    CsvRun run{file, {}, {}, 0, false};
    auto done = base::for_each_csv_record(
        file.path, internal::csv_separator(first_line, file.type == FileType::Tsv),
        options_.line_bytes_max, [&](base::CsvRecord&& record) {
          take_record(std::move(record), run);
          return !stopped_ && run.header && *run.header && !options_.stop.stop_requested();
        });
    if (done && !run.header) {
      return fail(Code::InvalidData, "the file is empty");
    }
    if (!done || !*run.header) {
      return done ? *run.header : done;
    }
    return run.rows > 0 ? Result<void>{} : fail(Code::InvalidData, "the file holds no rows");
  }

  struct CsvRun {
    const FoundFile& file;
    std::optional<Result<void>> header;  ///< how reading it went
    std::optional<internal::CsvDocuments> documents;
    uint64_t rows = 0;
    bool warned = false;
  };

  void take_record(base::CsvRecord&& record, CsvRun& run) {
    const std::string id = fmt::format("{}#{}", run.file.id, record.line);
    Result<Document> document;
    auto guessed = decode_fields(record.fields);
    if (!record.error.empty()) {
      document = fail(Code::InvalidData, "line {}: {}", record.line, record.error);
    } else if (!guessed) {
      document = fail(Code::InvalidData, "line {}: {}", record.line, guessed.error().message);
    } else if (!run.header) {
      auto documents = internal::CsvDocuments::create(record, options_.columns);
      run.header = documents ? Result<void>{} : Result<void>(pass_on(documents));
      if (*run.header) {
        run.documents = std::move(*documents);
      }
      return;
    } else {
      document = run.documents->document(record, id);
    }
    if (!run.header) {
      run.header = Result<void>(pass_on(document, "header"));
      return;
    }
    ++run.rows;
    if (!document) {
      fail_row(run.file, record.line, id, document.error());
      return;
    }
    if (!guessed->empty()) {
      if (!std::exchange(run.warned, true)) {
        warn_of_guess(run.file, *guessed);
      }
      mark_guess(*guessed, *document);
      document->source = document_to_json(*document);
    }
    emit(std::move(*document), run.file, record.line);
  }

  Result<void> read_jsonl(const FoundFile& file) {
    uint64_t rows = 0;
    auto done =
        base::for_each_line(file.path, options_.line_bytes_max, [&](const base::Line& line) {
          std::string_view text = line.text;
          if (line.number == 1 && text.starts_with("\xEF\xBB\xBF")) {
            text.remove_prefix(3);
          }
          if (!line.too_long && text.find_first_not_of(" \t\r") == std::string_view::npos) {
            return !stopped_;
          }
          ++rows;
          const std::string id = fmt::format("{}#{}", file.id, line.number);
          if (line.too_long) {
            fail_row(file, line.number, id,
                     Error{Code::TooLarge,
                           fmt::format("line {}: is longer than {} bytes", line.number,
                                       options_.line_bytes_max),
                           {}});
          } else if (auto document = parse_document(text, id); document) {
            emit(std::move(*document), file, line.number);
          } else {
            fail_row(file, line.number, id,
                     Error{document.error().code,
                           fmt::format("line {}: {}", line.number, document.error().message),
                           document.error().field});
          }
          return !stopped_ && !options_.stop.stop_requested();
        });
    if (!done) {
      return pass_on(done);
    }
    return rows > 0 ? Result<void>{} : fail(Code::InvalidData, "the file holds no rows");
  }

  const ReadOptions& options_;
  const OnDocument& on_document_;
  const OnFailure& on_failure_;
  std::unordered_map<std::string, std::string> ids_;
  bool stopped_ = false;
};

}  // namespace

Result<std::vector<std::string>> DocumentReader::find_files(const std::vector<std::string>& paths) {
  auto files = internal::find_document_files(paths, {});
  if (!files) {
    return pass_on(files);
  }
  std::vector<std::string> result;
  for (const FoundFile& file : *files) {
    result.push_back(file.path);
  }
  return result;
}

Result<void> DocumentReader::read(const std::vector<std::string>& paths,
                                  const OnDocument& on_document,
                                  const OnFailure& on_failure) const {
  auto files = internal::find_document_files(paths, options_.on_link);
  if (!files) {
    return pass_on(files);
  }
  return ReadRun(options_, on_document, on_failure).read(*files);
}

}  // namespace sibyl::answer
