#include "base/error.h"

#include <array>
#include <cerrno>

namespace sibyl {
namespace {

struct CodeRow {
  Code code;
  std::string_view name;
  int http;
  int grpc;
  int exit;
};

// One row a code, in the order of the enumeration.
constexpr std::array<CodeRow, 18> kCodes{{
    {Code::InvalidArgument, "invalid-argument", 400, 3, 64},
    {Code::InvalidData, "invalid-data", 400, 3, 65},
    {Code::NotFound, "not-found", 404, 5, 66},
    {Code::AlreadyExists, "already-exists", 409, 6, 65},
    {Code::FailedPrecondition, "failed-precondition", 409, 9, 65},
    {Code::TooLarge, "too-large", 413, 8, 65},
    {Code::ResourceExhausted, "resource-exhausted", 429, 8, 69},
    {Code::Unauthenticated, "unauthenticated", 401, 16, 69},
    {Code::PermissionDenied, "permission-denied", 403, 7, 69},
    {Code::Unavailable, "unavailable", 503, 14, 69},
    {Code::DeadlineExceeded, "deadline-exceeded", 504, 4, 69},
    {Code::Unimplemented, "unimplemented", 501, 12, 69},
    {Code::Internal, "internal", 500, 13, 70},
    {Code::CannotCreate, "cannot-create", 500, 13, 73},
    {Code::IoError, "io-error", 507, 13, 74},
    {Code::DataLoss, "data-loss", 500, 15, 65},
    {Code::Interrupted, "interrupted", 503, 14, 75},
    {Code::InvalidConfig, "invalid-config", 400, 3, 78},
}};

const CodeRow& row_of(Code code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) {
      return row;
    }
  }
  return kCodes[static_cast<size_t>(Code::Internal)];
}

}  // namespace

std::string_view code_name(Code code) {
  return row_of(code).name;
}

Code code_from_name(std::string_view name) {
  for (const CodeRow& row : kCodes) {
    if (row.name == name) {
      return row.code;
    }
  }
  return Code::Internal;
}

int http_status(Code code) {
  return row_of(code).http;
}
int grpc_status(Code code) {
  return row_of(code).grpc;
}
int exit_status(Code code) {
  return row_of(code).exit;
}

Code code_from_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return Code::NotFound;
    case EEXIST:
    case ENOTEMPTY:
      return Code::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::CannotCreate;
    case ENAMETOOLONG:
    case EISDIR:
    case EINVAL:
    case ELOOP:
      return Code::InvalidArgument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return Code::ResourceExhausted;
    case ECONNREFUSED:
    case ECONNRESET:
    case EADDRINUSE:
    case EADDRNOTAVAIL:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EPIPE:
      return Code::Unavailable;
    case ETIMEDOUT:
      return Code::DeadlineExceeded;
    case EINTR:
    case ECANCELED:
      return Code::Interrupted;
    default:
      return Code::IoError;  // ENOSPC, EDQUOT, EIO, EFBIG and what is not known
  }
}

}  // namespace sibyl
