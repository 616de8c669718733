#include "encoder/internal/batch_queue.h"

#include <thread>

#include <gtest/gtest.h>

namespace sibyl::encoder {
namespace {

Piece piece(Window& window, size_t tokens) {
  return {&window, 0, 1, tokens};
}

TEST(BatchQueue, HandsOutQuestionsFirst) {
  BatchQueue queue(10, 100);
  Window document;
  Window question;
  ASSERT_TRUE(queue.push(piece(document, 100), Urgency::Document, {}));
  EXPECT_FALSE(queue.questions_wait());
  ASSERT_TRUE(queue.push(piece(question, 5), Urgency::Question, {}));
  EXPECT_TRUE(queue.questions_wait());
  EXPECT_EQ(queue.take().front().window, &question);
  EXPECT_FALSE(queue.questions_wait());
  EXPECT_TRUE(queue.take_questions().empty());
  EXPECT_EQ(queue.take().front().window, &document);
}

// Questions of several callers share one reading of the weights.
TEST(BatchQueue, JoinsPiecesOfDifferentCallers) {
  BatchQueue queue(10, 20);
  Window a;
  Window b;
  Window c;
  for (Window* window : {&a, &b, &c}) {
    ASSERT_TRUE(queue.push(piece(*window, 8), Urgency::Question, {}));
  }
  EXPECT_EQ(queue.take().size(), 2U);
  EXPECT_EQ(queue.take().size(), 1U);
  ASSERT_TRUE(queue.push(piece(a, 8), Urgency::Question, {}));
  ASSERT_TRUE(queue.push(piece(a, 8), Urgency::Question, {}));
  EXPECT_EQ(queue.take().size(), 1U) << "one caller's pieces are for several workers";
}

TEST(BatchQueue, GivesALargePieceAlone) {
  BatchQueue queue(1, 20);
  Window a;
  ASSERT_TRUE(queue.push({&a, 0, 50, 1000}, Urgency::Document, {}));
  EXPECT_EQ(queue.take().front().tokens, 1000U);
}

TEST(BatchQueue, MakesTheCallerWaitWhenFull) {
  BatchQueue queue(1, 20);
  Window a;
  ASSERT_TRUE(queue.push(piece(a, 1), Urgency::Document, {}));
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(queue.push(piece(a, 1), Urgency::Document, stop.get_token()));
  std::jthread taker([&] { EXPECT_EQ(queue.take().size(), 1U); });
  EXPECT_TRUE(queue.push(piece(a, 1), Urgency::Document, {}));
}

TEST(BatchQueue, TakesBackWhatWaits) {
  BatchQueue queue(10, 20);
  Window a;
  Window b;
  ASSERT_TRUE(queue.push(piece(a, 1), Urgency::Question, {}));
  ASSERT_TRUE(queue.push(piece(b, 1), Urgency::Question, {}));
  ASSERT_TRUE(queue.push(piece(a, 1), Urgency::Document, {}));
  EXPECT_EQ(queue.withdraw(a), 2U);
  EXPECT_EQ(queue.withdraw(a), 0U);
  EXPECT_EQ(queue.take().front().window, &b);
  queue.close();
  EXPECT_TRUE(queue.take().empty());
}

TEST(Window, KeepsTheFirstFailure) {
  Window window;
  window.expect(2);
  window.fail({Code::Internal, "first", {}});
  window.fail({Code::Internal, "second", {}});
  window.piece_done(2);
  EXPECT_EQ(window.wait()->message, "first");
  EXPECT_FALSE(window.wait().has_value());
}

}  // namespace
}  // namespace sibyl::encoder
