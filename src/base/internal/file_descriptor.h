#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/result.h"

namespace sibyl::base::internal {

/// Owns a file descriptor; -1 is none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    if (number_ >= 0) {
      ::close(number_);
    }
    number_ = number;
  }

 private:
  int number_;
};

/// `cannot open /x/y: No such file or directory`. A refusal to read is not "cannot create": callers
/// that only read pass what EACCES means for them.
inline tl::unexpected<Error> system_error(std::string_view what, std::string_view path, int number,
                                          Code denied = Code::CannotCreate) {
  Code code = code_from_errno(number);
  if (code == Code::CannotCreate || (denied == Code::CannotCreate && number == ENOTDIR)) {
    code = denied;
  }
  return fail(code, "{} {}: {}", what, path, std::generic_category().message(number));
}

}  // namespace sibyl::base::internal
