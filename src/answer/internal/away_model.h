#pragma once

#include "base/result.h"

namespace sibyl::answer::internal {

/// Whether an error of finding or asking an encoder says that the model cannot be asked now, and
/// may be asked another time: nobody answers, or another version does.
inline bool is_away(const Error& error) {
  return error.code == Code::Unavailable || error.code == Code::DeadlineExceeded ||
         error.code == Code::ResourceExhausted || error.code == Code::FailedPrecondition;
}
/// Whether the same call may well succeed a little later.
inline bool is_passing(const Error& error) {
  return is_away(error) && error.code != Code::FailedPrecondition;
}

}  // namespace sibyl::answer::internal
