#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = ::memfd_create("csv", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) {
    return 0;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  for (const char delimiter : {',', '\t'}) {
    static_cast<void>(sibyl::base::for_each_csv_record(
        path, delimiter, 4096, [](sibyl::base::CsvRecord&&) { return true; }));
  }
  ::close(file);
  return 0;
}
