#include "cli/internal/npy_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace sibyl::cli {
namespace {

constexpr size_t kHeaderBytes = 128;  // a multiple of 64, as the format wants

}  // namespace

Result<void> NpyFile::open(const std::string& path, uint64_t dimension) {
  path_ = path;
  beside_ = path + ".tmp";
  dimension_ = dimension;
  errno = 0;
  file_.open(beside_, std::ios::binary | std::ios::trunc);
  if (!file_) {
    const Code code = code_from_errno(errno);
    return fail(code, "cannot create {}: {}", beside_, std::generic_category().message(errno));
  }
  return write_header();
}

Result<void> NpyFile::write_header() {
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 dimension_ == 0 ? 0 : values_ / dimension_, dimension_);
  std::string header("\x93NUMPY\x01\x00", 8);
  const size_t text_bytes = kHeaderBytes - header.size() - 2;
  header.push_back(static_cast<char>(text_bytes & 0xFF));
  header.push_back(static_cast<char>(text_bytes >> 8));
  text.resize(text_bytes - 1, ' ');
  header += text + "\n";
  file_.write(header.data(), static_cast<std::streamsize>(header.size()));
  return file_ ? Result<void>()
               : fail(Code::IoError, "cannot write {}: is the disk full?", beside_);
}

Result<void> NpyFile::add(std::span<const float> values) {
  values_ += values.size();
  file_.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
  return file_ ? Result<void>()
               : fail(Code::IoError, "cannot write {}: is the disk full?", beside_);
}

Result<void> NpyFile::finish() {
  file_.seekp(0);
  if (auto done = write_header(); !done) {
    return done;
  }
  file_.close();
  if (!file_ || std::rename(beside_.c_str(), path_.c_str()) != 0) {
    return fail(Code::IoError, "cannot finish {}: {}", path_,
                std::generic_category().message(errno));
  }
  return {};
}

}  // namespace sibyl::cli
