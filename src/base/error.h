#pragma once

#include <string>
#include <string_view>

namespace sibyl {

/// What went wrong, by kind. One table (error.cc) maps each to HTTP, gRPC and exit status.
enum class Code {
  InvalidArgument,     ///< wrong usage of a command, call or query; exit 64, HTTP 400
  InvalidData,         ///< a document, pair, model or question file is wrong; exit 65, HTTP 400
  NotFound,            ///< an input, name or id is not there; exit 66, HTTP 404
  AlreadyExists,       ///< exit 65, HTTP 409
  FailedPrecondition,  ///< right call, wrong state (no model, other dimension); exit 65, HTTP 409
  TooLarge,            ///< over a named limit; exit 65, HTTP 413
  ResourceExhausted,   ///< a queue, memory budget or connection limit is full; exit 69, HTTP 429
  Unauthenticated,     ///< exit 69, HTTP 401
  PermissionDenied,    ///< exit 69, HTTP 403
  Unavailable,         ///< a service, port, GPU or lock is not to be had; exit 69, HTTP 503
  DeadlineExceeded,    ///< exit 69, HTTP 504
  Unimplemented,       ///< an address that is not built yet; exit 69, HTTP 501
  Internal,            ///< a bug of ours; exit 70, HTTP 500
  CannotCreate,        ///< read-only or forbidden place; exit 73, HTTP 500
  IoError,             ///< disk full, read or write failed; exit 74, HTTP 507
  DataLoss,            ///< stored data is damaged; exit 65, HTTP 500
  Interrupted,         ///< state is saved, run again; exit 75, HTTP 503
  InvalidConfig,       ///< configuration or job file; exit 78, HTTP 400
};

/// An expected failure. The message names the field, the value it had and what would be right.
struct Error {
  Code code = Code::Internal;
  std::string message;
  std::string field;  ///< path of the offending input field, as `train.epochs`; empty when none
};

/// Lower-case name with dashes, as `invalid-argument`.
std::string_view code_name(Code code);
/// The inverse of `code_name`; Internal for an unknown name.
Code code_from_name(std::string_view name);
/// HTTP status of a code.
int http_status(Code code);
/// Numeric gRPC status of a code.
int grpc_status(Code code);
/// Process exit status of a code (INTERFACE section 1).
int exit_status(Code code);
/// Kind of a failed system call: ENOENT is NotFound, ENOSPC IoError, EACCES and EROFS CannotCreate.
Code code_from_errno(int error_number);

}  // namespace sibyl
