#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "answer/document_reader.h"
#include "base/file_system.h"

/// A CSV file from its bytes to documents.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  static const base::TemporaryDirectory folder;
  static const std::string path = folder.path() + "/rows.csv";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  answer::ReadOptions options;
  options.line_bytes_max = 4096;
  const auto done = answer::DocumentReader(options).read(
      {path}, [](answer::Document&&, const std::string&) { return true; },
      [](const answer::ReadFailure&) { return true; });
  return done ? 0 : -1;
}
