#pragma once

#include <memory>
#include <string>

#include "base/lock_file.h"
#include "base/result.h"

namespace sibyl::server {

/// A data directory that this process owns: DIR/lock is held, DIR/id is there.
struct DataDirectory {
  std::string path;  ///< absolute
  std::string id;    ///< 32 hexadecimal digits, the same for ever
  std::unique_ptr<base::LockFile> lock;
};

/// Makes the directory when it is missing and takes its lock. Unavailable names the owner's socket;
/// CannotCreate when the place is read-only.
Result<DataDirectory> own_data_directory(const std::string& directory);

/// What stands in the lock file: socket (may be empty), version, directory id.
std::string lock_content(const std::string& socket_path, const std::string& directory_id);

/// DIR as an absolute path, whether it exists or not.
std::string absolute_path(const std::string& directory);

}  // namespace sibyl::server
