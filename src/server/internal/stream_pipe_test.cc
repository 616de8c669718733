#include "server/internal/stream_pipe.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

TEST(StreamPipe, PiecesComeInOrderAndTheEndBehindThem) {
  std::atomic<int> wakes = 0;
  StreamPipe pipe([&wakes] { ++wakes; });
  std::thread producer([&pipe] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(pipe.put(std::to_string(i)));
    }
    pipe.end();
  });
  std::string joined;
  int pieces = 0;
  while (!pipe.ended()) {
    if (const auto piece = pipe.take()) {
      joined += *piece + ",";
      ++pieces;
    }
  }
  producer.join();
  EXPECT_EQ(pieces, 100);
  EXPECT_EQ(joined.substr(0, 6), "0,1,2,");
  EXPECT_EQ(wakes, 101);
}

// The client goes away while the producer waits for room: the producer must not wait for ever.
TEST(StreamPipe, AbandoningWakesAWaitingProducer) {
  StreamPipe pipe([] {});
  EXPECT_TRUE(pipe.put("a"));
  std::thread producer([&pipe] { EXPECT_FALSE(pipe.put("b")); });
  pipe.abandon();
  producer.join();
  EXPECT_FALSE(pipe.put(""));
}

// An empty chunk is the end of a chunked body.
TEST(StreamPipe, EmptyPiecesAreNotSent) {
  StreamPipe pipe([] {});
  EXPECT_TRUE(pipe.put(""));
  EXPECT_FALSE(pipe.take());
}

}  // namespace
}  // namespace sibyl::server
