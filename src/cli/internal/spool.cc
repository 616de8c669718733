#include "cli/internal/spool.h"

#include "base/gzip.h"

namespace sibyl::cli {
namespace {

constexpr size_t kWriteBytes = size_t{1} << 20;
constexpr size_t kBatchRows = 256;
constexpr size_t kBatchBytes = size_t{4} << 20;
// A document as JSON: the text may be as large as a row can be, with every byte escaped.
constexpr uint64_t kLineBytesMax = uint64_t{512} << 20;

}  // namespace

Result<std::unique_ptr<DocumentSpool>> DocumentSpool::open() {
  auto spool = std::make_unique<DocumentSpool>();
  auto file = base::real_file_system().create(base::join_path(spool->folder_.path(), "documents"));
  if (!file) {
    return pass_on(file);
  }
  spool->file_ = std::move(*file);
  return spool;
}

Result<void> DocumentSpool::add(const answer::Document& document) {
  buffer_ += document.source;  // as it was given, with its id
  buffer_.push_back('\n');
  ids_.insert(document.id);
  ++documents_;
  if (buffer_.size() < kWriteBytes) {
    return {};
  }
  auto done = file_->append(buffer_);
  buffer_.clear();
  return done;
}

Result<void> DocumentSpool::for_each_batch(
    const std::function<Result<void>(const std::string& body, uint64_t rows)>& on_batch) {
  auto done = file_->append(buffer_);
  buffer_.clear();
  std::string body;
  uint64_t rows = 0;
  const auto flush = [&] {
    auto sent = rows == 0 ? Result<void>() : on_batch(body, rows);
    body.clear();
    rows = 0;
    return sent;
  };
  if (done) {
    auto read = base::for_each_line(base::join_path(folder_.path(), "documents"), kLineBytesMax,
                                    [&](const base::Line& line) {
                                      body.append(line.text);
                                      body.push_back('\n');
                                      ++rows;
                                      if (rows >= kBatchRows || body.size() >= kBatchBytes) {
                                        done = flush();
                                      }
                                      return done.has_value();
                                    });
    if (!read) {
      return read;
    }
  }
  return done ? flush() : done;
}

}  // namespace sibyl::cli
