#include "server/internal/data_directory.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

#include "base/bytes.h"
#include "base/environment.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "server/application.h"

namespace sibyl::server {
namespace {

/// sockaddr_un's 108 bytes less the closing zero, less what a listener may add while it binds.
constexpr size_t kSocketPathBytesMax = 100;
constexpr uint64_t kIdBytesMax = 256;

std::string lock_path(const std::string& directory) {
  return base::join_path(directory, "lock");
}

/// The socket named in a lock file; empty when there is none.
std::string socket_of(const std::string& content) {
  const auto json = base::parse_json(content, "the lock file");
  if (!json || !json->is_object()) {
    return {};
  }
  const auto socket = json->find("socket");
  return socket != json->end() && socket->is_string() ? socket->get<std::string>() : std::string();
}

/// A command that asks who the owner is holds the lock for a moment: that is no owner.
Result<std::unique_ptr<base::LockFile>> acquire_patiently(const std::string& path) {
  static constexpr int kAttempts = 5;
  static constexpr std::chrono::milliseconds kPause{20};
  auto lock = base::LockFile::acquire(path);
  for (int i = 1; i < kAttempts && !lock && lock.error().code == Code::Unavailable; ++i) {
    std::this_thread::sleep_for(kPause);
    lock = base::LockFile::acquire(path);
  }
  return lock;
}

Result<std::string> directory_id(const std::string& directory) {
  const std::string path = base::join_path(directory, "id");
  if (base::real_file_system().exists(path)) {
    auto id = base::read_file(path, kIdBytesMax);
    if (!id) {
      return pass_on(id);
    }
    return id->substr(0, id->find_first_of("\r\n"));
  }
  std::string id = base::random_hex(16);
  if (auto written = base::replace_file(path, id + "\n"); !written) {
    return pass_on(written);
  }
  return id;
}

}  // namespace

std::string absolute_path(const std::string& directory) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::weakly_canonical(directory, error);
  return error ? directory : path.string();
}

std::string lock_content(const std::string& socket_path, const std::string& directory_id) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("socket").text(socket_path).key("version").text(version());
  json.key("directory_id").text(directory_id).end_object();
  return out + "\n";
}

Result<DataDirectory> own_data_directory(const std::string& directory) {
  DataDirectory owned;
  owned.path = absolute_path(directory);
  if (auto created = base::real_file_system().create_directories(owned.path); !created) {
    return pass_on(created);
  }
  auto lock = acquire_patiently(lock_path(owned.path));
  if (!lock) {
    if (lock.error().code != Code::Unavailable) {
      return pass_on(lock);
    }
    const auto content = base::LockFile::read_content(lock_path(owned.path));
    const std::string socket = content ? socket_of(*content) : std::string();
    return fail(Code::Unavailable, "the data directory '{}' belongs to another process{}",
                owned.path,
                socket.empty() ? ", which serves no commands: wait for it to end"
                               : ", which answers at unix:" + socket);
  }
  owned.lock = std::move(*lock);
  auto id = directory_id(owned.path);
  if (!id) {
    return pass_on(id);
  }
  owned.id = std::move(*id);
  if (auto written = owned.lock->write_content(lock_content({}, owned.id)); !written) {
    return pass_on(written);
  }
  return owned;
}

std::string default_socket_path(const std::string& data_directory) {
  const std::string absolute = absolute_path(data_directory);
  const std::string beside = base::join_path(absolute, "sibyl.sock");
  if (beside.size() <= kSocketPathBytesMax) {
    return beside;
  }
  const std::string folder = base::environment_variable("XDG_RUNTIME_DIR");
  return fmt::format("{}/sibyl-{}-{:016x}.sock", folder.empty() ? "/tmp" : folder, getuid(),
                     base::hash64(absolute));
}

Result<std::string> owner_socket(const std::string& data_directory) {
  const std::string path = lock_path(absolute_path(data_directory));
  if (!base::real_file_system().exists(path)) {
    return fail(Code::Unavailable, "nobody owns the data directory '{}'", data_directory);
  }
  // The lock itself says whether the owner lives; what it wrote says where it answers.
  if (const auto free = base::LockFile::acquire(path)) {
    return fail(Code::Unavailable, "nobody owns the data directory '{}'", data_directory);
  }
  const auto content = base::LockFile::read_content(path);
  if (!content) {
    return tl::unexpected<Error>(content.error());
  }
  std::string socket = socket_of(*content);
  if (socket.empty()) {
    return fail(Code::Unavailable,
                "the data directory '{}' belongs to another process, which serves no commands: "
                "wait for it to end",
                data_directory);
  }
  return socket;
}

}  // namespace sibyl::server
