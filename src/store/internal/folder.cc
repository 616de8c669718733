#include "store/internal/folder.h"

#include <charconv>

#include "base/log.h"
#include "store/internal/manifest.h"

namespace sibyl::store {
namespace {

constexpr std::string_view kLogPrefix = "log-";
constexpr std::string_view kSegmentPrefix = "segment-";
constexpr std::string_view kIndexPrefix = "index-";

}  // namespace

std::string Folder::log_name(uint64_t number) {
  return fmt::format("{}{:08}", kLogPrefix, number);
}

std::string Folder::rows_name(uint64_t segment) {
  return fmt::format("{}{:08}.rows", kSegmentPrefix, segment);
}

std::string Folder::postings_name(uint64_t segment, size_t field) {
  return fmt::format("{}{:08}.text-{}.postings", kSegmentPrefix, segment, field);
}

std::string Folder::vectors_name(uint64_t segment, uint64_t generation, size_t field) {
  return fmt::format("{}{:08}.generation-{}.field-{}.vectors", kSegmentPrefix, segment, generation,
                     field);
}

std::string Folder::index_name(uint64_t number, uint64_t generation, size_t field,
                               std::string_view kind) {
  return fmt::format("{}{:08}.generation-{}.field-{}.{}", kIndexPrefix, number, generation, field,
                     kind);
}

uint64_t Folder::number_in(std::string_view name) {
  uint64_t number = 0;
  for (const std::string_view prefix : {kLogPrefix, kSegmentPrefix, kIndexPrefix}) {
    if (name.starts_with(prefix)) {
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    }
  }
  return number;
}

bool Folder::parse_log_name(std::string_view name, uint64_t& number) {
  number = number_in(name);
  return number != 0 && name == log_name(number);
}

bool Folder::is_ours(std::string_view name) {
  const bool beside = name.starts_with(kManifestName) && name.ends_with(".tmp");
  return beside || number_in(name) != 0;
}

Result<uint64_t> Folder::write(
    const std::string& name,
    const std::function<Result<void>(const index::ByteSink&)>& make) const {
  Result<std::unique_ptr<base::WritableFile>> file = files_.create(path_of(name));
  if (!file) {
    return pass_on(file);
  }
  Result<void> done = make([&](std::string_view bytes) { return (*file)->append(bytes); });
  if (done) {
    done = (*file)->sync();
  }
  const uint64_t bytes = (*file)->size();
  if (done) {
    done = (*file)->close();
  }
  if (!done) {
    discard(name);
    return pass_on(done);
  }
  return bytes;
}

void Folder::discard(const std::string& name) const {
  if (Result<void> removed = files_.remove(path_of(name)); !removed) {
    base::log_warning("store", "a file that is not needed any more stays until the next start: {}",
                      removed.error().message);
  }
}

}  // namespace sibyl::store
