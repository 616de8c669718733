#include "cli/internal/spool.h"

#include "base/gzip.h"

namespace sibyl::cli {
namespace {

constexpr size_t kWriteBytes = size_t{1} << 20;
constexpr size_t kBatchRows = 256;
constexpr size_t kBatchBytes = size_t{4} << 20;
// They travel in the request's address.
constexpr size_t kBatchOrigins = 32;
constexpr size_t kBatchOriginBytes = 8192;
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

Result<void> DocumentSpool::add(const answer::Document& document, const std::string& origin) {
  if (origins_.empty() || origins_.back().second != origin) {
    origins_.emplace_back(documents_, origin);
  }
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
    const std::function<Result<void>(const Batch&)>& on_batch) {
  auto done = file_->append(buffer_);
  buffer_.clear();
  if (!done) {
    return done;
  }
  Batch batch;
  size_t origin_bytes = 0;
  uint64_t row = 0;
  size_t next_origin = 0;
  const auto flush = [&] {
    auto sent = batch.rows == 0 ? Result<void>() : on_batch(batch);
    batch = {};
    origin_bytes = 0;
    return sent;
  };
  const std::string path = base::join_path(folder_.path(), "documents");
  auto read = base::for_each_line(path, kLineBytesMax, [&](const base::Line& line) {
    const bool full = batch.rows >= kBatchRows || batch.body.size() >= kBatchBytes ||
                      batch.origins.size() >= kBatchOrigins || origin_bytes >= kBatchOriginBytes;
    done = full ? flush() : done;
    if (next_origin < origins_.size() && origins_[next_origin].first == row) {
      ++next_origin;
    }
    const std::string& origin = origins_[next_origin - 1].second;
    origin_bytes += batch.origins.insert(origin).second ? origin.size() : 0;
    batch.body.append(line.text);
    batch.body.push_back('\n');
    ++batch.rows;
    ++row;
    return done.has_value();
  });
  if (!read) {
    return read;
  }
  return done ? flush() : done;
}

}  // namespace sibyl::cli
