#include "index/checked_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace sibyl::index {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian and mapped");

constexpr size_t kHeaderBytes = 32;
constexpr size_t kEntryBytes = 24;
/// What a check asks for before it needs it; no more, or the reads of searches would wait behind
/// it.
constexpr uint64_t kAheadBytes = 2 * kCheckedFileBlockBytes;

uint64_t align_up(uint64_t value) {
  return (value + kCheckedFileAlignment - 1) / kCheckedFileAlignment * kCheckedFileAlignment;
}

/// magic, version, section count, end of the body, CRC-32 of header and table; then the table.
std::string encode_header(std::string_view magic, uint32_t version,
                          const std::vector<SectionSize>& sections) {
  std::string table;
  uint64_t offset = align_up(kHeaderBytes + sections.size() * kEntryBytes);
  uint64_t end = kHeaderBytes + sections.size() * kEntryBytes;
  for (const SectionSize& section : sections) {
    base::put_u32(table, section.id);
    base::put_u32(table, 0);
    base::put_u64(table, offset);
    base::put_u64(table, section.bytes);
    end = offset + section.bytes;
    offset = align_up(end);
  }
  std::string header(magic);
  base::put_u32(header, version);
  base::put_u32(header, static_cast<uint32_t>(sections.size()));
  base::put_u64(header, end);
  base::put_u32(header, 0);
  base::put_u32(header, base::crc32(table, base::crc32(header)));
  return header + table;
}

struct Header {
  uint64_t body_end = 0;
  std::vector<SectionSize> sections;
  std::vector<uint64_t> offsets;
};

Result<Header> decode_header(std::string_view bytes, const std::string& path,
                             std::string_view magic, uint32_t version) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kCheckedFileMagicBytes) != magic) {
    return damaged(path, fmt::format("it does not start as a {} file", magic));
  }
  base::ByteReader reader(bytes);
  reader.skip(kCheckedFileMagicBytes);
  const uint32_t found_version = reader.u32();
  const uint32_t count = reader.u32();
  Header header;
  header.body_end = reader.u64();
  const uint32_t reserved = reader.u32();
  const uint32_t checksum = reader.u32();
  if (count > kCheckedFileSectionsMax || reader.left() < count * kEntryBytes) {
    return damaged(path, "its section table is cut off");
  }
  const std::string_view table = bytes.substr(kHeaderBytes, count * kEntryBytes);
  if (reserved != 0 ||
      checksum != base::crc32(table, base::crc32(bytes.substr(0, kHeaderBytes - 4)))) {
    return damaged(path, "the checksum of its header does not match");
  }
  if (found_version != version) {
    return fail(Code::FailedPrecondition,
                "{}: format version {} is not known to this program (it reads {}); use the program "
                "that wrote it",
                path, found_version, version);
  }
  uint64_t end = kHeaderBytes + table.size();
  for (uint32_t i = 0; i < count; ++i) {
    SectionSize section;
    section.id = reader.u32();
    const uint32_t zero = reader.u32();
    const uint64_t offset = reader.u64();
    section.bytes = reader.u64();
    if (zero != 0 || offset != align_up(end) || offset > bytes.size() ||
        section.bytes > bytes.size() - offset) {
      return damaged(path, "a section lies outside of the file");
    }
    end = offset + section.bytes;
    header.sections.push_back(section);
    header.offsets.push_back(offset);
  }
  if (end != header.body_end) {
    return damaged(path, "its sections do not end where the header says");
  }
  return header;
}

/// Blocks to be checked at once are read at once, as one stream; of the others a fault reads no
/// more than `pattern` says.
void announce(const base::FileView& file, uint64_t body_end,
              const std::function<bool(uint64_t begin, uint64_t end)>& is_later,
              base::ReadPattern pattern) {
  const auto later_at = [&](uint64_t begin) {
    return is_later(begin, std::min<uint64_t>(begin + kCheckedFileBlockBytes, body_end));
  };
  uint64_t end = 0;
  for (uint64_t begin = 0; begin < body_end; begin = end) {
    const bool later = later_at(begin);
    for (end = begin; end < body_end && later_at(end) == later; end += kCheckedFileBlockBytes) {
    }
    file.expect(later ? pattern : base::ReadPattern::Soon, begin, end - begin);
  }
}

/// `skip(begin, end)` leaves a block out.
Result<void> check_blocks(std::string_view bytes, uint64_t body_end, const std::string& path,
                          const std::function<bool(uint64_t begin, uint64_t end)>& skip) {
  const uint64_t blocks = (body_end + kCheckedFileBlockBytes - 1) / kCheckedFileBlockBytes;
  const uint64_t expected = body_end + blocks * 4 + 4;
  if (bytes.size() != expected) {
    return damaged(path, fmt::format("it has {} bytes and should have {}", bytes.size(), expected));
  }
  const std::string_view table = bytes.substr(body_end, blocks * 4);
  base::ByteReader reader(bytes.substr(body_end));
  for (uint64_t block = 0; block < blocks; ++block) {
    const uint64_t begin = block * kCheckedFileBlockBytes;
    const std::string_view part =
        bytes.substr(begin, std::min<uint64_t>(kCheckedFileBlockBytes, body_end - begin));
    const uint32_t expected_checksum = reader.u32();
    if (skip && skip(begin, begin + part.size())) {
      continue;
    }
    if (expected_checksum != base::crc32(part)) {
      return damaged(path, fmt::format("bytes {} to {} do not match their checksum", begin,
                                       begin + part.size()));
    }
  }
  if (reader.u32() != base::crc32(table)) {
    return damaged(path, "its table of checksums is damaged");
  }
  return {};
}

}  // namespace

tl::unexpected<Error> damaged(const std::string& path, std::string_view what) {
  return fail(Code::DataLoss, "{} is damaged: {}", path, what);
}

CheckedFileWriter::CheckedFileWriter(std::string_view magic, uint32_t version,
                                     std::vector<SectionSize> sections, ByteSink sink)
    : sections_(std::move(sections)), sink_(std::move(sink)) {
  base::check(magic.size() == kCheckedFileMagicBytes, "a magic has 8 bytes");
  base::check(sections_.size() <= kCheckedFileSectionsMax, "sections fit the table");
  put(encode_header(magic, version, sections_));
  enter_sections();
}

void CheckedFileWriter::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t take = std::min(bytes.size(), kCheckedFileBlockBytes - block_bytes_);
    block_checksum_ = base::crc32(bytes.substr(0, take), block_checksum_);
    buffer_.append(bytes.substr(0, take));
    written_ += take;
    block_bytes_ += take;
    if (block_bytes_ == kCheckedFileBlockBytes) {
      checksums_.push_back(block_checksum_);
      block_checksum_ = 0;
      block_bytes_ = 0;
    }
    bytes.remove_prefix(take);
  }
}

/// Pads to the first section that still takes bytes.
void CheckedFileWriter::enter_sections() {
  while (section_ < sections_.size()) {
    if (section_written_ == 0) {
      put(std::string(align_up(written_) - written_, '\0'));
    }
    if (section_written_ < sections_[section_].bytes) {
      return;
    }
    ++section_;
    section_written_ = 0;
  }
}

Result<void> CheckedFileWriter::flush(bool all) {
  if (buffer_.empty() || (!all && buffer_.size() < kCheckedFileBlockBytes)) {
    return {};
  }
  Result<void> done = sink_(buffer_);
  buffer_.clear();
  return done;
}

Result<void> CheckedFileWriter::append(std::string_view bytes) {
  while (!bytes.empty()) {
    base::check(section_ < sections_.size(), "no bytes after the last section");
    const uint64_t room = sections_[section_].bytes - section_written_;
    base::check(bytes.size() <= room, "an append stays inside its section");
    const std::string_view part = bytes.substr(0, kCheckedFileBlockBytes);
    put(part);
    section_written_ += part.size();
    bytes.remove_prefix(part.size());
    if (Result<void> flushed = flush(false); !flushed) {
      return flushed;
    }
    enter_sections();
  }
  return {};
}

Result<void> CheckedFileWriter::finish() {
  base::check(section_ == sections_.size(), "every section was written whole");
  if (block_bytes_ > 0) {
    checksums_.push_back(block_checksum_);
  }
  std::string table;
  for (const uint32_t checksum : checksums_) {
    base::put_u32(table, checksum);
  }
  const uint32_t checksum = base::crc32(table);
  base::put_u32(table, checksum);
  buffer_ += table;
  return flush(true);
}

Result<CheckedFile> CheckedFile::open(std::shared_ptr<const base::FileView> file,
                                      const std::string& path, std::string_view magic,
                                      uint32_t version, std::span<const uint32_t> later,
                                      base::ReadPattern pattern) {
  std::string_view bytes = file->bytes();
  Result<Header> header = decode_header(bytes, path, magic, version);
  if (!header) {
    return pass_on(header);
  }
  const auto is_later = [&](uint64_t begin, uint64_t end) {
    for (size_t i = 0; i < header->sections.size(); ++i) {
      const uint64_t first = header->offsets[i];
      if (begin >= first && end <= first + header->sections[i].bytes &&
          std::find(later.begin(), later.end(), header->sections[i].id) != later.end()) {
        return true;
      }
    }
    return false;
  };
  if (!later.empty()) {
    announce(*file, header->body_end, is_later, pattern);
  }
  if (Result<void> checked = check_blocks(bytes, header->body_end, path, is_later); !checked) {
    return pass_on(checked);
  }
  CheckedFile opened;
  opened.path_ = path;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
    auto copy = std::make_shared<std::vector<uint64_t>>(bytes.size() / sizeof(uint64_t) + 1);
    std::memcpy(copy->data(), bytes.data(), bytes.size());
    bytes = {reinterpret_cast<const char*>(copy->data()), bytes.size()};
    opened.aligned_copy_ = std::move(copy);
  }
  for (size_t i = 0; i < header->sections.size(); ++i) {
    opened.sections_.push_back(
        {header->sections[i].id, bytes.substr(header->offsets[i], header->sections[i].bytes)});
  }
  opened.file_ = std::move(file);
  return opened;
}

Result<void> check_container(const base::FileView& file, const std::string& path,
                             const std::function<bool()>& stopped) {
  const std::string_view bytes = file.bytes();
  if (bytes.size() < kHeaderBytes) {
    return damaged(path, "it is cut off");
  }
  base::ByteReader version(bytes.substr(kCheckedFileMagicBytes));
  Result<Header> header =
      decode_header(bytes, path, bytes.substr(0, kCheckedFileMagicBytes), version.u32());
  if (!header) {
    return pass_on(header);
  }
  bool is_stopped = false;
  Result<void> checked = check_blocks(bytes, header->body_end, path, [&](uint64_t begin, uint64_t) {
    if (begin % kAheadBytes == 0) {
      file.expect(base::ReadPattern::Soon, begin, 2 * kAheadBytes);
    }
    is_stopped = is_stopped || (stopped && stopped());
    return is_stopped;
  });
  if (checked && is_stopped) {
    return fail(Code::Interrupted, "the check of {} was stopped", path);
  }
  return checked;
}

void CheckedFile::expect(base::ReadPattern pattern, std::string_view part) const {
  const std::string_view bytes = file_->bytes();
  if (part.data() >= bytes.data() && part.data() < bytes.data() + bytes.size()) {
    file_->expect(pattern, static_cast<size_t>(part.data() - bytes.data()), part.size());
  }
}

std::string_view CheckedFile::section(uint32_t id) const {
  for (const Section& section : sections_) {
    if (section.id == id) {
      return section.bytes;
    }
  }
  return {};
}

}  // namespace sibyl::index
