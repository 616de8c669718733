#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace sibyl::index {

/// The container of every sealed file (docs/formats/segment.md, "Container"): a magic, a version, a
/// table of sections that start at multiples of 64 bytes, and a CRC-32 of every block of 1 MiB, so
/// that a reader may check the whole file or the blocks that it touches.
inline constexpr size_t kCheckedFileMagicBytes = 8;
inline constexpr size_t kCheckedFileBlockBytes = size_t{1} << 20;
inline constexpr size_t kCheckedFileAlignment = 64;
inline constexpr size_t kCheckedFileSectionsMax = 1024;

/// Takes the bytes of a file in order.
using ByteSink = std::function<Result<void>(std::string_view bytes)>;

struct SectionSize {
  uint32_t id = 0;
  uint64_t bytes = 0;
};

/// Writes a container in one pass; the sizes of its sections are known before. Externally
/// synchronised. The first error of the sink ends it.
class CheckedFileWriter {
 public:
  /// `magic` has 8 bytes.
  CheckedFileWriter(std::string_view magic, uint32_t version, std::vector<SectionSize> sections,
                    ByteSink sink);
  /// The next bytes of the current section; never past its end.
  Result<void> append(std::string_view bytes);
  /// The same for an array of plain little-endian values.
  template <class T>
  Result<void> append_values(std::span<const T> values) {
    return append({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  /// After the last byte of the last section: checksums, and everything goes to the sink.
  Result<void> finish();

 private:
  void put(std::string_view bytes);
  void enter_sections();
  Result<void> flush(bool all);

  std::vector<SectionSize> sections_;
  ByteSink sink_;
  std::string buffer_;
  uint64_t written_ = 0;          ///< bytes put so far
  size_t section_ = 0;            ///< current
  uint64_t section_written_ = 0;  ///< bytes of it
  std::vector<uint32_t> checksums_;
  uint32_t block_checksum_ = 0;
  size_t block_bytes_ = 0;
};

/// An opened container whose checksums are right. Immutable; keeps the file.
class CheckedFile {
 public:
  /// Checks every byte, but for the blocks that lie wholly inside of the sections `later`: those
  /// are for check_container, before which nobody may take them for whole. DataLoss with the path
  /// and the place of the damage. `pattern` is how the blocks that are not checked will be read.
  static Result<CheckedFile> open(std::shared_ptr<const base::FileView> file,
                                  const std::string& path, std::string_view magic, uint32_t version,
                                  std::span<const uint32_t> later = {},
                                  base::ReadPattern pattern = base::ReadPattern::Usual);
  /// Empty when there is no such section.
  std::string_view section(uint32_t id) const;
  /// The section as `count` values of T; false when its size is another one.
  template <class T>
  bool array(uint32_t id, uint64_t count, std::span<const T>& out) const {
    const std::string_view bytes = section(id);
    if (count > bytes.size() / sizeof(T) || count * sizeof(T) != bytes.size()) {
      return false;
    }
    out = {reinterpret_cast<const T*>(bytes.data()), static_cast<size_t>(count)};
    return true;
  }
  const std::string& path() const { return path_; }
  /// How a part of a section will be read.
  void expect(base::ReadPattern pattern, std::string_view part) const;

 private:
  struct Section {
    uint32_t id = 0;
    std::string_view bytes;
  };
  std::shared_ptr<const base::FileView> file_;
  std::shared_ptr<const std::vector<uint64_t>> aligned_copy_;  ///< of a view at an odd address
  std::string path_;
  std::vector<Section> sections_;
};

/// Checks every block of an opened container, and reads ahead of itself. Interrupted once `stopped`
/// (asked between blocks, may be empty) says so.
Result<void> check_container(const base::FileView& file, const std::string& path,
                             const std::function<bool()>& stopped = {});

/// The DataLoss of a damaged file, in the words of all readers.
tl::unexpected<Error> damaged(const std::string& path, std::string_view what);

}  // namespace sibyl::index
