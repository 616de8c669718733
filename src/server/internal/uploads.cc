#include "server/internal/uploads.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/log.h"
#include "net/sha256.h"

namespace sibyl::server {
namespace {

constexpr size_t kEndingBytesMax = 16;
constexpr size_t kHashDigits = 64;

bool is_ending(std::string_view ending) {
  return ending.size() <= kEndingBytesMax && ending.size() >= 2 && ending.front() == '.' &&
         ending.back() != '.' && ending.find("..") == std::string_view::npos &&
         std::ranges::all_of(ending, [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '.';
         });
}

}  // namespace

std::string upload_ending(std::string_view name) {
  name = name.substr(std::min(name.size(), name.find_last_of('/') + 1));
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  size_t dot = lower.rfind('.');
  if (dot != std::string::npos && dot > 0 && lower.substr(dot) == ".gz") {
    const size_t inner = lower.rfind('.', dot - 1);
    dot = inner == std::string::npos || inner == 0 || !is_ending(lower.substr(inner)) ? dot : inner;
  }
  if (dot == std::string::npos || dot == 0 || !is_ending(lower.substr(dot))) {
    return {};
  }
  return lower.substr(dot);
}

bool is_upload_id(std::string_view text) {
  if (text.size() < kHashDigits ||
      !std::ranges::all_of(text.substr(0, kHashDigits), [](unsigned char c) {
        return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f');
      })) {
    return false;
  }
  const std::string_view ending = text.substr(kHashDigits);
  return ending.empty() || is_ending(ending);
}

Result<std::unique_ptr<Uploads>> Uploads::open(const std::string& directory, const Limits& limits) {
  if (auto created = base::real_file_system().create_directories(directory); !created) {
    return pass_on(created);
  }
  return std::unique_ptr<Uploads>(new Uploads(directory, limits));
}

Result<std::vector<base::FileEntry>> Uploads::entries() const {
  auto files = base::real_file_system().list(directory_);
  if (files) {
    std::erase_if(*files, [](const base::FileEntry& file) { return !is_upload_id(file.name); });
  }
  return files;
}

Result<UploadInfo> Uploads::put(std::string_view name, std::string_view bytes, int64_t now_us) {
  const std::string id = net::sha256_hex(bytes) + upload_ending(name);
  const std::string path = base::join_path(directory_, id);
  const std::lock_guard lock(mutex_);
  if (!base::real_file_system().exists(path)) {
    if (auto room = make_room(bytes.size(), now_us); !room) {
      return pass_on(room);
    }
  }
  // Written anew when it is there already: the file's time says that it is wanted.
  if (auto written = base::replace_file(path, bytes); !written) {
    return pass_on(written);
  }
  return UploadInfo{id, bytes.size(), now_us};
}

Result<void> Uploads::make_room(uint64_t bytes, int64_t now_us) {
  auto files = entries();
  if (!files) {
    return pass_on(files);
  }
  std::ranges::sort(*files, std::ranges::greater(),
                    &base::FileEntry::modified_us);  // old ones last
  uint64_t total = 0;
  for (const base::FileEntry& file : *files) {
    total += file.bytes;
  }
  while (total + bytes > limits_.bytes_max || files->size() >= limits_.files_max) {
    if (files->empty() || files->back().modified_us > now_us - limits_.keep_us) {
      return fail(Code::ResourceExhausted,
                  "{} uploads hold {} of {} bytes; delete those that are no longer needed "
                  "(DELETE /v1/uploads/ID)",
                  files->size(), total, limits_.bytes_max);
    }
    const base::FileEntry oldest = files->back();
    if (auto removed = base::real_file_system().remove(base::join_path(directory_, oldest.name));
        !removed) {
      return pass_on(removed);
    }
    base::log_info("server", "upload {} made room", oldest.name);
    total -= oldest.bytes;
    files->pop_back();
  }
  return {};
}

std::vector<UploadInfo> Uploads::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<UploadInfo> uploads;
  if (const auto files = entries()) {
    for (const base::FileEntry& file : *files) {
      uploads.push_back({file.name, file.bytes, file.modified_us});
    }
  }
  return uploads;
}

Result<std::string> Uploads::path_of(std::string_view id) const {
  const std::string path = base::join_path(directory_, id);
  const std::lock_guard lock(mutex_);
  if (!is_upload_id(id) || !base::real_file_system().exists(path)) {
    return fail(Code::NotFound,
                "there is no upload '{}'; send the file first (POST /v1/uploads?name=FILE)", id);
  }
  return path;
}

Result<void> Uploads::remove(std::string_view id) {
  auto path = path_of(id);
  if (!path) {
    return pass_on(path);
  }
  const std::lock_guard lock(mutex_);
  return base::real_file_system().remove(*path);
}

}  // namespace sibyl::server
