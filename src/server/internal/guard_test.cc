#include "server/internal/guard.h"

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "net/sha256.h"
#include "server/internal/address.h"
#include "server/internal/request_id.h"

namespace sibyl::server {
namespace {

Request tcp_request(std::map<std::string, std::string> headers) {
  Request request;
  request.method = "POST";
  request.path = "/v1/jobs";
  request.headers = std::move(headers);
  return request;
}

class KeyFile {
 public:
  explicit KeyFile(const std::string& content) {
    path_ = base::join_path(folder_.path(), "keys");
    EXPECT_TRUE(base::replace_file(path_, content));
  }
  const std::string& path() const { return path_; }

 private:
  base::TemporaryDirectory folder_;
  std::string path_;
};

std::string line_of(const std::string& name, const std::string& key) {
  return R"({"name": ")" + name + R"(", "sha256": ")" + net::sha256_hex(key) + "\"}\n";
}

TEST(Address, FormsAreRead) {
  EXPECT_EQ(parse_host_port("127.0.0.1:8080")->host, "127.0.0.1");
  EXPECT_EQ(parse_host_port("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(parse_host_port("[::1]:0")->host, "::1");
  EXPECT_EQ(parse_host_port(":80")->host, "");
  for (const std::string_view bad : {"", "localhost", "a:", "a:b", "a:65536", "a:-1", "::1:80"}) {
    EXPECT_FALSE(parse_host_port(bad)) << bad;
  }
}

TEST(Address, OnlyLoopbackNamesAreLoopback) {
  for (const std::string_view host :
       {"localhost", "app.localhost", "127.0.0.1", "127.9.8.7", "::1"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const std::string_view host :
       {"", "localhost.evil.example", "127.0.0.1.evil.example", "128.0.0.1", "127.0.0",
        "127.0.0.256", "0.0.0.0", "127.0.0.1.", "evil"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(Guard, WithoutKeysOnlyLoopbackHostsAreServed) {
  const Guard guard(ApiKeys(), {"sibyl.internal"});
  EXPECT_TRUE(guard.check(tcp_request({{"host", "localhost:8080"}}), false));
  EXPECT_TRUE(guard.check(tcp_request({{"host", "[::1]:8080"}}), false));
  EXPECT_TRUE(guard.check(tcp_request({{"host", "SIBYL.internal"}}), false));
  // A name of somebody else's that leads to this address: DNS rebinding.
  const auto rebound = guard.check(tcp_request({{"host", "evil.example:8080"}}), false);
  ASSERT_FALSE(rebound);
  EXPECT_EQ(rebound.error().code, Code::PermissionDenied);
  EXPECT_FALSE(guard.check(tcp_request({}), true));
}

TEST(Guard, PagesOfOtherSitesMayNotAsk) {
  const Guard guard(ApiKeys(), {});
  const auto from = [&guard](const std::string& origin) {
    return guard.check(tcp_request({{"host", "localhost:8080"}, {"origin", origin}}), false)
        .has_value();
  };
  EXPECT_TRUE(from("http://localhost:8080"));
  EXPECT_TRUE(from("https://localhost:8080"));
  EXPECT_FALSE(from("http://localhost:9999"));
  EXPECT_FALSE(from("http://evil.example"));
  EXPECT_FALSE(from("null"));
}

TEST(Guard, OtherPeersAreTrusted) {
  Request request = tcp_request({});
  request.peer = Peer::UnixSocket;
  EXPECT_TRUE(Guard(ApiKeys(), {}).check(request, false));
}

TEST(Guard, KeysAreAskedForAndFound) {
  const KeyFile file(line_of("ci", "secret") + "\n" + line_of("web", "other"));
  auto keys = ApiKeys::read(file.path());
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->find("secret"), "ci");
  EXPECT_EQ(keys->find("other"), "web");
  EXPECT_EQ(keys->find("Secret"), "");
  EXPECT_EQ(keys->find(""), "");
  const Guard guard(std::move(*keys), {});
  EXPECT_TRUE(guard.requires_keys());
  EXPECT_TRUE(guard.check(tcp_request({{"host", "a"}, {"authorization", "bearer secret"}}), false));
  EXPECT_TRUE(guard.check(tcp_request({{"host", "a"}}), true));
  for (const std::string value : {"", "Bearer ", "Bearer wrong", "Basic secret", "secret"}) {
    const auto checked = guard.check(tcp_request({{"authorization", value}}), false);
    ASSERT_FALSE(checked) << value;
    EXPECT_EQ(checked.error().code, Code::Unauthenticated);
    EXPECT_EQ(checked.error().message.find("wrong"), std::string::npos);  // no secret in a log
  }
}

TEST(Guard, WrongKeyFilesAreRefusedByLine) {
  for (const std::string& content :
       {std::string("nonsense\n"), std::string(R"({"name": "a", "sha256": "abc"})"),
        std::string(R"({"name": "a"})"), std::string(), std::string("[]"),
        line_of("ci", "x") + std::string(8000, 'x')}) {
    const KeyFile file(content);
    const auto keys = ApiKeys::read(file.path());
    ASSERT_FALSE(keys) << content;
    EXPECT_EQ(keys.error().code, Code::InvalidConfig);
  }
  EXPECT_FALSE(ApiKeys::read("/does/not/exist"));
}

TEST(RequestId, StrangeIdsAreReplaced) {
  EXPECT_EQ(request_id_of({{"x-request-id", "Abc-1.2_3"}}), "Abc-1.2_3");
  for (const std::string bad : {"", "a b", "a\nb", "<x>", "\xC3\xA9"}) {
    EXPECT_NE(request_id_of({{"x-request-id", bad}}), bad);
  }
  EXPECT_EQ(request_id_of({{"x-request-id", std::string(129, 'a')}}).size(), 16U);
  EXPECT_NE(request_id_of({}), request_id_of({}));
}

TEST(Guard, APublicServerAsksForKeysAndNothingElse) {
  Request request;
  request.headers = {{"host", "model.example"}, {"origin", "http://elsewhere"}};
  EXPECT_TRUE(Guard(ApiKeys(), {}, true).check(request, false));
  EXPECT_FALSE(Guard(ApiKeys(), {}, false).check(request, false));
}

}  // namespace
}  // namespace sibyl::server
