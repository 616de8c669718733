#pragma once

#include <string>
#include <utility>

#include <sys/types.h>

#include "base/child_process.h"
#include "base/internal/file_descriptor.h"
#include "base/result.h"

namespace sibyl::base::internal {

/// A started child: its id and a descriptor that becomes readable when it ends.
struct Spawned {
  pid_t process = -1;
  FileDescriptor end_signal;
};

/// Starts `options.arguments` in a process group of its own with the given descriptors as standard
/// output and error; standard input is `options.input`. NotFound when there is no such program.
Result<Spawned> spawn(const ChildOptions& options, int output, int errors);

/// Waits at most `timeout_ms` (-1: for ever) for the end; false when it still runs.
bool wait_for_end(const Spawned& child, int64_t timeout_ms);
/// Collects the ended child and gives its exit status, 128 + signal when a signal ended it.
int collect(const Spawned& child);

/// Both ends of a pipe that children do not inherit: read, write.
Result<std::pair<FileDescriptor, FileDescriptor>> make_pipe();

}  // namespace sibyl::base::internal
