#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/internal/file_descriptor.h"
#include "base/internal/inflate_stream.h"

namespace sibyl::base {
namespace {

using internal::FileDescriptor;
using internal::system_error;

constexpr size_t kChunkBytes = size_t{256} << 10;

// Bytes of a file, inflated when it is gzip. Memory: two chunks.
class ByteSource {
 public:
  ByteSource(std::string path, FileDescriptor owned, int file)
      : path_(std::move(path)), owned_(std::move(owned)), file_(file), raw_(kChunkBytes, '\0') {}

  /// The next bytes, empty at the end. Valid until the next call.
  Result<std::string_view> next() {
    if (!started_) {
      if (auto read = start(); !read) {
        return pass_on(read);
      }
    }
    return inflater_ == nullptr ? next_plain() : next_inflated();
  }

 private:
  // A pipe may give one byte at first; the form shows in two.
  Result<void> start() {
    started_ = true;
    while (left_.size() < 2) {
      const size_t have = left_.size();
      auto got = fill(have);
      if (!got) {
        return pass_on(got);
      }
      left_ = std::string_view(raw_.data(), have + *got);
      if (*got == 0) {
        break;
      }
    }
    if (is_gzip(left_)) {
      inflater_ = std::make_unique<internal::InflateStream>();
      plain_.resize(kChunkBytes);
    }
    return {};
  }

  Result<size_t> fill(size_t offset) {
    for (;;) {
      const ssize_t got = ::read(file_, raw_.data() + offset, raw_.size() - offset);
      if (got >= 0) {
        return static_cast<size_t>(got);
      }
      if (errno != EINTR) {
        return system_error("cannot read", path_, errno);
      }
    }
  }

  Result<std::string_view> next_plain() {
    if (!left_.empty()) {
      return std::exchange(left_, {});
    }
    auto got = fill(0);
    if (!got) {
      return pass_on(got);
    }
    return std::string_view(raw_.data(), *got);
  }

  Result<std::string_view> next_inflated() {
    for (;;) {
      auto got = inflater_->read(left_, plain_.data(), plain_.size());
      if (!got) {
        return pass_on(got, path_);
      }
      if (*got > 0) {
        return std::string_view(plain_.data(), *got);
      }
      if (!left_.empty()) {
        continue;
      }
      auto more = fill(0);
      if (!more) {
        return pass_on(more);
      }
      if (*more == 0) {
        if (!inflater_->ended()) {
          return fail(Code::InvalidData, "{}: the gzip data is cut short", path_);
        }
        return std::string_view();
      }
      left_ = std::string_view(raw_.data(), *more);
    }
  }

  const std::string path_;
  const FileDescriptor owned_;
  const int file_;
  std::string raw_;
  std::string plain_;
  std::string_view left_;  // read but not yet given
  std::unique_ptr<internal::InflateStream> inflater_;
  bool started_ = false;
};

// Cuts bytes into lines; holds at most one line of the allowed length.
class LineCutter {
 public:
  LineCutter(uint64_t line_bytes_max, const std::function<bool(const Line&)>& on_line)
      : line_bytes_max_(line_bytes_max), on_line_(on_line) {}

  /// False when the caller wants no more.
  bool add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      if (end == std::string_view::npos) {
        hold(bytes);
        return true;
      }
      if (!finish_line(bytes.substr(0, end))) {
        return false;
      }
      bytes.remove_prefix(end + 1);
    }
    return true;
  }
  void end() {
    if (!held_.empty() || too_long_) {
      finish_line({});
    }
  }

 private:
  // One byte over the limit is allowed for the carriage return that is not part of the line.
  void hold(std::string_view bytes) {
    if (too_long_ || held_.size() + bytes.size() > line_bytes_max_ + 1) {
      too_long_ = true;
      held_.clear();
      held_.shrink_to_fit();
      return;
    }
    held_.append(bytes);
  }

  bool finish_line(std::string_view last) {
    std::string_view text = last;
    if (!held_.empty() || too_long_) {
      hold(last);
      text = held_;
    }
    if (text.ends_with('\r')) {
      text.remove_suffix(1);
    }
    Line line;
    line.number = ++number_;
    line.too_long = too_long_ || text.size() > line_bytes_max_;
    line.text = line.too_long ? std::string_view() : text;
    const bool go_on = on_line_(line);
    held_.clear();
    too_long_ = false;
    return go_on;
  }

  const uint64_t line_bytes_max_;
  const std::function<bool(const Line&)>& on_line_;
  std::string held_;
  uint64_t number_ = 0;
  bool too_long_ = false;
};

}  // namespace

Result<void> for_each_line(const std::string& path, uint64_t line_bytes_max,
                           const std::function<bool(const Line&)>& on_line) {
  FileDescriptor owned;
  if (path != "-") {
    owned.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (owned.get() < 0) {
      return system_error("cannot open", path, errno, Code::PermissionDenied);
    }
  }
  const int file = path == "-" ? STDIN_FILENO : owned.get();
  ByteSource source(path == "-" ? "standard input" : path, std::move(owned), file);
  LineCutter cutter(line_bytes_max, on_line);
  for (;;) {
    auto bytes = source.next();
    if (!bytes) {
      return pass_on(bytes);
    }
    if (bytes->empty()) {
      cutter.end();
      return {};
    }
    if (!cutter.add(*bytes)) {
      return {};
    }
  }
}

}  // namespace sibyl::base
