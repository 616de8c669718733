#include "base/lock_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_system.h"
#include "base/internal/file_descriptor.h"

namespace sibyl::base {
namespace {

using internal::FileDescriptor;
using internal::system_error;

constexpr uint64_t kContentBytesMax = 64 << 10;

class OfdLockFile final : public LockFile {
 public:
  OfdLockFile(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  // Written in place: the lock belongs to this open file, a renamed one would be another.
  Result<void> write_content(const std::string& content) override {
    if (content.size() > kContentBytesMax) {
      return fail(Code::TooLarge, "lock file content has {} bytes; at most {}", content.size(),
                  kContentBytesMax);
    }
    size_t at = 0;
    while (at < content.size()) {
      const ssize_t wrote =
          ::pwrite(file_.get(), content.data() + at, content.size() - at, static_cast<off_t>(at));
      if (wrote < 0 && errno != EINTR) {
        return system_error("cannot write", path_, errno);
      }
      at += wrote > 0 ? static_cast<size_t>(wrote) : 0;
    }
    if (::ftruncate(file_.get(), static_cast<off_t>(content.size())) != 0) {
      return system_error("cannot cut", path_, errno);
    }
    return {};
  }

 private:
  const std::string path_;
  FileDescriptor file_;
};

}  // namespace

Result<std::unique_ptr<LockFile>> LockFile::acquire(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) {
    return system_error("cannot open lock file", path, errno);
  }
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return fail(Code::Unavailable, "{} is locked by another process", path);
    }
    return system_error("cannot lock", path, errno);
  }
  return std::make_unique<OfdLockFile>(path, std::move(file));
}

Result<std::string> LockFile::read_content(const std::string& path) {
  return read_file(path, kContentBytesMax);
}

}  // namespace sibyl::base
