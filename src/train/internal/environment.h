#pragma once

namespace sibyl::train {

/// What the trainer's libraries read when they are first used, unless the user has set it: the
/// widest processor kernels, and an allocator that keeps large blocks. A step allocates and frees
/// gigabytes; giving them back to the system each time costs page faults for every one.
void set_process_defaults();

}  // namespace sibyl::train
