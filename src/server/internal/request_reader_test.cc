#include "server/internal/request_reader.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

using State = RequestReader::State;

std::unique_ptr<RequestReader> reader_of(std::string_view bytes, size_t step = SIZE_MAX) {
  auto reader = RequestReader::create({4096, 1000});
  std::string pending;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    pending += piece;
    size_t used = 1;
    while (used > 0 && reader->state() != State::Done && reader->state() != State::Refused) {
      used = reader->feed(pending);
      pending.erase(0, used);
    }
  }
  return reader;
}

constexpr std::string_view kPost =
    "POST /v1/x?a=b HTTP/1.1\r\nHost: localhost\r\nX-Tag: one\r\nX-Tag: two\r\n"
    "X-Request-Id: r-1\r\nContent-Length: 5\r\n\r\nhello";

TEST(RequestReader, ReadsARequestWhateverThePiecesAre) {
  for (const size_t step : {size_t{1}, size_t{7}, SIZE_MAX}) {
    const auto reader = reader_of(kPost, step);
    ASSERT_EQ(reader->state(), State::Done);
    const Request request = reader->take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/x");
    EXPECT_EQ(request.query.at("a"), "b");
    EXPECT_EQ(request.headers.at("x-tag"), "one, two");
    EXPECT_EQ(request.id, "r-1");
    EXPECT_EQ(request.body, "hello");
  }
}

TEST(RequestReader, StopsBetweenHeadAndBody) {
  const auto reader = RequestReader::create({4096, 1000});
  const size_t used = reader->feed(kPost);
  EXPECT_EQ(reader->state(), State::Body);
  EXPECT_EQ(used, kPost.size() - 5);
  EXPECT_EQ(reader->content_length(), 5U);
  EXPECT_EQ(reader->body_bytes(), 0U);
}

TEST(RequestReader, ChunksAreJoined) {
  const auto reader = reader_of(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_EQ(reader->state(), State::Done);
  EXPECT_EQ(reader->take().body, "abcde");
}

TEST(RequestReader, BytesOfTheNextRequestAreLeft) {
  const std::string two = std::string(kPost) + "GET / HTTP/1.1\r\n";
  const auto reader = RequestReader::create({4096, 1000});
  size_t used = reader->feed(two);
  used += reader->feed(std::string_view(two).substr(used));
  EXPECT_EQ(reader->state(), State::Done);
  EXPECT_EQ(used, kPost.size());
}

TEST(RequestReader, LimitsAreToldBeforeTheBodyIsRead) {
  const auto declared = reader_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
  ASSERT_EQ(declared->state(), State::Refused);
  EXPECT_EQ(declared->refusal().status, 413);
  const auto chunked =
      reader_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                std::string(1001, 'x') + "\r\n0\r\n\r\n");
  ASSERT_EQ(chunked->state(), State::Refused);
  EXPECT_EQ(chunked->refusal().status, 413);
  const auto header =
      reader_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
  ASSERT_EQ(header->state(), State::Refused);
  EXPECT_EQ(header->refusal().status, 431);
}

// What two servers could read in two ways is a way to smuggle a request past one of them.
TEST(RequestReader, AmbiguousOrBrokenRequestsAreRefused) {
  for (const std::string_view bad :
       {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: "
        "5\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET /%zz?%zz HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"}) {
    const auto reader = reader_of(bad);
    EXPECT_EQ(reader->state(), State::Refused) << bad;
    EXPECT_EQ(reader->refusal().status, 400) << bad;
  }
}

TEST(RequestReader, OnlyOneExpectationIsKnown) {
  const auto known =
      reader_of("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(known->state(), State::Body);
  EXPECT_TRUE(known->expects_continue());
  const auto unknown = reader_of("POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n");
  ASSERT_EQ(unknown->state(), State::Refused);
  EXPECT_EQ(unknown->refusal().status, 417);
}

TEST(RequestReader, KeepAliveFollowsVersionAndHeader) {
  EXPECT_TRUE(reader_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n")->keep_alive());
  EXPECT_FALSE(reader_of("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")->keep_alive());
  EXPECT_FALSE(reader_of("GET / HTTP/1.0\r\n\r\n")->keep_alive());
}

}  // namespace
}  // namespace sibyl::server
