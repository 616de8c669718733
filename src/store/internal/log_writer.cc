#include "store/internal/log_writer.h"

#include "base/bytes.h"

namespace sibyl::store {

Result<std::unique_ptr<LogWriter>> LogWriter::create(base::FileSystem& files,
                                                     const std::string& path, uint64_t number,
                                                     bool copy) {
  Result<std::unique_ptr<base::WritableFile>> file = files.create(path);
  if (!file) {
    return pass_on(file);
  }
  std::string header(kLogMagic);
  base::put_u32(header, kLogVersion);
  base::put_u32(header, copy ? kLogIsCopy : 0);
  base::put_u64(header, number);
  base::put_u32(header, 0);
  base::put_u32(header, base::crc32(header));
  Result<void> written = (*file)->append(header);
  if (written) {
    written = (*file)->sync();
  }
  if (!written) {
    return pass_on(written);
  }
  std::unique_ptr<LogWriter> log(new LogWriter(files, path, number));
  log->file_ = std::move(*file);
  log->end_ = kLogHeaderBytes;
  log->synced_ = kLogHeaderBytes;
  return log;
}

Result<std::unique_ptr<LogWriter>> LogWriter::open(base::FileSystem& files, const std::string& path,
                                                   uint64_t number, uint64_t end) {
  Result<std::unique_ptr<base::WritableFile>> file = files.open_append(path, end);
  if (!file) {
    return pass_on(file);
  }
  std::unique_ptr<LogWriter> log(new LogWriter(files, path, number));
  log->file_ = std::move(*file);
  log->end_ = end;
  log->synced_ = end > kLogHeaderBytes ? end - kRecordHeaderBytes : end;
  return log;
}

void LogWriter::add(RecordType type, uint64_t sequence, int64_t row_key, std::string_view payload,
                    uint32_t payload_checksum) {
  append_record(group_, {synced_, sequence, row_key, type}, payload, payload_checksum);
  last_sequence_ = sequence;
}

Result<void> LogWriter::commit() {
  if (Result<void> written = file_->append(group_); !written) {
    group_.clear();
    cut_to_end();
    return written;
  }
  if (Result<void> synced = file_->sync(); !synced) {
    group_.clear();
    file_.reset();
    return synced;
  }
  end_ += group_.size();
  synced_ = end_;
  group_.clear();
  append_mark(last_sequence_);
  return {};
}

/// Not synced: it tells a damaged record from a torn one whenever it survives, and the group is
/// durable without it.
void LogWriter::append_mark(uint64_t sequence) {
  std::string mark;
  append_record(mark, {synced_, sequence, 0, RecordType::Mark}, {}, base::crc32({}));
  if (file_->append(mark)) {
    end_ += mark.size();
  } else {
    cut_to_end();
  }
}

Result<void> LogWriter::end(uint64_t sequence) {
  std::string record;
  append_record(record, {synced_, sequence, 0, RecordType::End}, {}, base::crc32({}));
  if (Result<void> written = file_->append(record); !written) {
    cut_to_end();
    return written;
  }
  if (Result<void> synced = file_->sync(); !synced) {
    file_.reset();
    return synced;
  }
  end_ += record.size();
  return {};
}

void LogWriter::cut_to_end() {
  file_.reset();
  if (Result<std::unique_ptr<base::WritableFile>> file = files_.open_append(path_, end_)) {
    file_ = std::move(*file);
  }
}

}  // namespace sibyl::store
