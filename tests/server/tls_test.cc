#include <gtest/gtest.h>

#include "base/file_system.h"
#include "double_application.h"
#include "net/http_client.h"
#include "net/self_signed.h"
#include "raw_socket.h"
#include "server/listener.h"

namespace sibyl::server {
namespace {

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = net::make_self_signed(key(), certificate());
    if (!made && made.error().code == Code::NotFound) {
      GTEST_SKIP() << "the program openssl is missing";
    }
    ASSERT_TRUE(made) << made.error().message;
    options_.http = "127.0.0.1:0";
    options_.grpc.clear();
    options_.tls_certificate_file = certificate();
    options_.tls_key_file = key();
  }
  std::string certificate() const { return base::join_path(folder_.path(), "cert.pem"); }
  std::string key() const { return base::join_path(folder_.path(), "key.pem"); }

  base::TemporaryDirectory folder_;
  DoubleApplication application_;
  ListenerOptions options_;
};

TEST_F(TlsTest, RequestsAreAnsweredToThoseWhoTrustTheCertificate) {
  const auto listener = Listener::start(application_, options_);
  ASSERT_TRUE(listener) << listener.error().message;
  const std::string url = "https://" + (*listener)->http_address();
  net::HttpRequest request;
  request.method = "POST";
  request.path = "/echo";
  request.body = std::string(300'000, 'x');
  const auto trusting = net::HttpClient::open({url, {}, {}, certificate()});
  for (int i = 0; i < 2; ++i) {
    const auto reply = (*trusting)->send(request);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->body, request.body);
  }
  const auto stranger = net::HttpClient::open({url, {}, {}, {}});
  const auto refused = (*stranger)->send(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Unavailable);
}

TEST_F(TlsTest, PlainRequestsAreNotAnswered) {
  options_.header_timeout_ms = 300;
  const auto listener = Listener::start(application_, options_);
  ASSERT_TRUE(listener);
  RawSocket socket((*listener)->http_address());
  ASSERT_TRUE(socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(socket.read_all().find("HTTP/1.1 2"), std::string::npos);
  EXPECT_EQ(application_.handled, 0);
}

TEST_F(TlsTest, WrongFilesAreNamed) {
  options_.tls_key_file = certificate();
  auto wrong = Listener::start(application_, options_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::InvalidConfig);
  EXPECT_NE(wrong.error().message.find(certificate()), std::string::npos);
  options_.tls_key_file.clear();
  EXPECT_EQ(Listener::start(application_, options_).error().code, Code::InvalidConfig);
  options_.tls_key_file = key();
  options_.tls_certificate_file = "/nonexistent";
  EXPECT_EQ(Listener::start(application_, options_).error().code, Code::InvalidConfig);
}

}  // namespace
}  // namespace sibyl::server
