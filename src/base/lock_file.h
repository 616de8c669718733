#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace sibyl::base {

/// An open-file-description lock (F_OFD_SETLK) on a file: the truth about who owns a directory.
/// Held until destroyed; the system drops it when the process dies.
class LockFile {
 public:
  /// Unavailable when somebody else holds it; CannotCreate when the place is read-only.
  static Result<std::unique_ptr<LockFile>> acquire(const std::string& path);
  /// What the holder wrote, without taking the lock.
  static Result<std::string> read_content(const std::string& path);
  virtual ~LockFile() = default;
  /// Replaces the file's content (socket path, version, directory id).
  virtual Result<void> write_content(const std::string& content) = 0;
};

}  // namespace sibyl::base
