#include "base/file_system.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/environment.h"
#include "base/internal/file_descriptor.h"
#include "base/random.h"

namespace sibyl::base {
namespace {

using internal::FileDescriptor;
using internal::system_error;

class MappedFile final : public FileView {
 public:
  MappedFile(void* address, size_t length) : address_(address), length_(length) {}
  ~MappedFile() override {
    if (length_ > 0) {
      ::munmap(address_, length_);
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const override {
    return length_ == 0 ? std::string_view()
                        : std::string_view(static_cast<char*>(address_), length_);
  }
  void expect(ReadPattern pattern, size_t offset, size_t length) const override {
    if (offset >= length_) {
      return;
    }
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t begin = offset / page * page;
    const size_t end = offset + std::min(length, length_ - offset);
    const int advice = pattern == ReadPattern::Singly ? MADV_RANDOM
                       : pattern == ReadPattern::Soon ? MADV_WILLNEED
                                                      : MADV_NORMAL;
    static_cast<void>(::madvise(static_cast<char*>(address_) + begin, end - begin, advice));
  }

 private:
  void* address_;
  size_t length_;
};

class RealWritableFile final : public WritableFile {
 public:
  RealWritableFile(std::string path, FileDescriptor file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  Result<void> append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(file_.get(), bytes.data(), bytes.size());
      if (wrote < 0) {
        if (errno == EINTR) {
          continue;
        }
        return system_error("cannot write", path_, errno);
      }
      size_ += static_cast<uint64_t>(wrote);
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return {};
  }
  Result<void> sync() override {
    if (::fdatasync(file_.get()) != 0) {
      return system_error("cannot sync", path_, errno);
    }
    return {};
  }
  Result<void> close() override {
    if (file_.get() >= 0 && ::close(file_.release()) != 0) {
      return system_error("cannot close", path_, errno);
    }
    return {};
  }
  uint64_t size() const override { return size_; }

 private:
  const std::string path_;
  FileDescriptor file_;
  uint64_t size_;
};

FileEntry entry_of(std::string name, const struct stat& status) {
  FileEntry entry;
  entry.name = std::move(name);
  entry.bytes = static_cast<uint64_t>(status.st_size);
  entry.directory = S_ISDIR(status.st_mode);
  entry.modified_us = status.st_mtim.tv_sec * int64_t{1000000} + status.st_mtim.tv_nsec / 1000;
  return entry;
}

class RealFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) {
      return system_error("cannot create", path, errno);
    }
    return std::make_unique<RealWritableFile>(path, std::move(file), 0);
  }

  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path,
                                                    uint64_t keep_bytes) override {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (file.get() < 0) {
      return system_error("cannot open", path, errno);
    }
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) {
      return system_error("cannot read the state of", path, errno);
    }
    auto size = static_cast<uint64_t>(status.st_size);
    if (size > keep_bytes) {
      if (::ftruncate(file.get(), static_cast<off_t>(keep_bytes)) != 0) {
        return system_error("cannot cut", path, errno);
      }
      size = keep_bytes;
    }
    return std::make_unique<RealWritableFile>(path, std::move(file), size);
  }

  Result<std::shared_ptr<const FileView>> map(const std::string& path) override {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) {
      return system_error("cannot open", path, errno, Code::PermissionDenied);
    }
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) {
      return system_error("cannot read the state of", path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
      return fail(Code::InvalidArgument, "{} is not a regular file", path);
    }
    const auto length = static_cast<size_t>(status.st_size);
    void* address = nullptr;
    if (length > 0) {
      address = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
      if (address == MAP_FAILED) {
        return system_error("cannot map", path, errno);
      }
    }
    return std::make_shared<MappedFile>(address, length);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return system_error("cannot rename to " + to, from, errno);
    }
    return {};
  }
  Result<void> remove(const std::string& path) override {
    if (::remove(path.c_str()) != 0) {
      return system_error("cannot remove", path, errno);
    }
    return {};
  }
  Result<void> remove_tree(const std::string& path) override {
    std::error_code problem;
    std::filesystem::remove_all(path, problem);
    if (problem) {
      return system_error("cannot remove", path, problem.value());
    }
    return {};
  }
  Result<void> sync_directory(const std::string& path) override {
    const FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) {
      return system_error("cannot open folder", path, errno);
    }
    if (::fsync(folder.get()) != 0) {
      return system_error("cannot sync folder", path, errno);
    }
    return {};
  }
  Result<void> create_directories(const std::string& path) override {
    std::error_code problem;
    std::filesystem::create_directories(path, problem);
    if (problem) {
      // A file where a folder should be, or a place that may not be written.
      return system_error("cannot create folder", path, problem.value(), Code::CannotCreate);
    }
    return {};
  }

  Result<std::vector<FileEntry>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    if (folder == nullptr) {
      return system_error("cannot list", path, errno, Code::PermissionDenied);
    }
    std::vector<FileEntry> entries;
    errno = 0;
    // The stream is this call's alone. NOLINTNEXTLINE(concurrency-mt-unsafe)
    while (const dirent* item = ::readdir(folder.get())) {
      const std::string_view name = item->d_name;
      struct stat status{};
      // An entry that went away since, or a link to nowhere, is no entry.
      if (name != "." && name != ".." &&
          ::fstatat(::dirfd(folder.get()), item->d_name, &status, 0) == 0) {
        entries.push_back(entry_of(std::string(name), status));
      }
      errno = 0;
    }
    if (errno != 0) {
      return system_error("cannot list", path, errno);
    }
    std::sort(entries.begin(), entries.end(),
              [](const FileEntry& a, const FileEntry& b) { return a.name < b.name; });
    return entries;
  }

  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Result<FileEntry> status(const std::string& path) override {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
      return system_error("cannot find", path, errno, Code::PermissionDenied);
    }
    return entry_of(std::filesystem::path(path).filename().string(), status);
  }
};

std::string folder_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> write_beside(const std::string& beside, std::string_view bytes, FileSystem& files) {
  auto file = files.create(beside);
  if (!file) {
    return pass_on(file);
  }
  if (auto done = (*file)->append(bytes); !done) {
    return done;
  }
  if (auto done = (*file)->sync(); !done) {
    return done;
  }
  return (*file)->close();
}

}  // namespace

FileSystem& real_file_system() {
  static RealFileSystem files;
  return files;
}

Result<std::string> read_file(const std::string& path, uint64_t bytes_max, FileSystem& files) {
  const auto view = files.map(path);
  if (!view) {
    return tl::unexpected<Error>(view.error());
  }
  const std::string_view bytes = (*view)->bytes();
  if (bytes.size() > bytes_max) {
    return fail(Code::TooLarge, "{} has {} bytes; at most {} are read", path, bytes.size(),
                bytes_max);
  }
  return std::string(bytes);
}

Result<void> replace_file(const std::string& path, std::string_view bytes, FileSystem& files) {
  const std::string beside = path + "." + random_hex(4) + ".tmp";
  auto done = write_beside(beside, bytes, files);
  if (done) {
    done = files.rename(beside, path);
  }
  if (!done) {
    if (files.exists(beside)) {
      static_cast<void>(files.remove(beside));  // the first error is the one to tell
    }
    return done;
  }
  return files.sync_directory(folder_of(path));
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || (!name.empty() && name.front() == '/')) {
    return std::string(name);
  }
  std::string path(folder);
  if (path.back() != '/') {
    path.push_back('/');
  }
  return path.append(name);
}

TemporaryDirectory::TemporaryDirectory() {
  const std::string set = environment_variable("TMPDIR");
  const std::string parent = set.empty() ? "/tmp" : set;
  std::string pattern = join_path(parent, "sibyl-XXXXXX");
  check(::mkdtemp(pattern.data()) != nullptr, "a folder can be made under $TMPDIR (or /tmp)");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  static_cast<void>(real_file_system().remove_tree(path_));  // a destructor has nobody to tell
}

}  // namespace sibyl::base
