#include "base/error.h"

#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include "base/result.h"

namespace sibyl {
namespace {

TEST(Error, EveryCodeHasItsOwnNameAndComesBackFromIt) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Code::InvalidConfig); ++i) {
    const Code code = static_cast<Code>(i);
    EXPECT_TRUE(names.insert(code_name(code)).second) << code_name(code);
    EXPECT_EQ(code_from_name(code_name(code)), code);
  }
  EXPECT_EQ(code_from_name("no-such-code"), Code::Internal);
}

// The numbers that scripts and pods rely on.
TEST(Error, ExitStatusIsTheDocumentedOne) {
  EXPECT_EQ(exit_status(Code::InvalidArgument), 64);
  EXPECT_EQ(exit_status(Code::InvalidData), 65);
  EXPECT_EQ(exit_status(Code::NotFound), 66);
  EXPECT_EQ(exit_status(Code::Unavailable), 69);
  EXPECT_EQ(exit_status(Code::Unimplemented), 69);
  EXPECT_EQ(exit_status(Code::Internal), 70);
  EXPECT_EQ(exit_status(Code::CannotCreate), 73);
  EXPECT_EQ(exit_status(Code::IoError), 74);
  EXPECT_EQ(exit_status(Code::Interrupted), 75);
  EXPECT_EQ(exit_status(Code::InvalidConfig), 78);
}

TEST(Error, HttpAndGrpcStatusAgreeInKind) {
  EXPECT_EQ(http_status(Code::NotFound), 404);
  EXPECT_EQ(grpc_status(Code::NotFound), 5);
  EXPECT_EQ(http_status(Code::TooLarge), 413);
  EXPECT_EQ(http_status(Code::Unimplemented), 501);
  EXPECT_EQ(grpc_status(Code::Unimplemented), 12);
  EXPECT_EQ(http_status(Code::IoError), 507);
}

TEST(Error, SystemErrorsHaveTheirKind) {
  EXPECT_EQ(code_from_errno(ENOENT), Code::NotFound);
  EXPECT_EQ(code_from_errno(ENOSPC), Code::IoError);
  EXPECT_EQ(code_from_errno(EROFS), Code::CannotCreate);
  EXPECT_EQ(code_from_errno(EACCES), Code::CannotCreate);
  EXPECT_EQ(code_from_errno(EADDRINUSE), Code::Unavailable);
}

TEST(Result, ContextIsPutBeforeTheMessage) {
  Result<int> inner = fail(Code::InvalidData, "dimension is {}; must be {}", 3, 4);
  const Result<int> outer = pass_on(inner, "vectors.jsonl");
  EXPECT_EQ(outer.error().message, "vectors.jsonl: dimension is 3; must be 4");
  EXPECT_EQ(outer.error().code, Code::InvalidData);
}

}  // namespace
}  // namespace sibyl
