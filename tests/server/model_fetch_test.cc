// Models fetched from a server that sends more than it should.
#include <gtest/gtest.h>

#include "base/json.h"
#include "double_application.h"
#include "net/sha256.h"
#include "server/internal/model_source.h"
#include "server/listener.h"

namespace sibyl::server {
namespace {

/// A web server of one model, or of long errors.
class FolderApplication final : public DoubleApplication {
 public:
  Response handle(const Request& request, std::stop_token) override {
    Response response;
    response.status = status;
    response.body = status != 200                       ? std::string(size_t{2} << 20, 'x')
                    : request.path == "/m/1/sibyl.json" ? provenance
                                                        : weights;
    return response;
  }
  Lane lane(const Request&) const override { return Lane::Quick; }

  int status = 200;
  std::string weights = std::string(2000, 'w');
  std::string provenance = base::dump_json(
      {{"format", 1}, {"checksums", {{"weights", net::sha256_hex(std::string(2000, 'w'))}}}});
};

class ModelFetchTest : public testing::Test {
 protected:
  void SetUp() override {
    ListenerOptions where;
    where.http = "127.0.0.1:0";
    where.grpc.clear();
    auto started = Listener::start(application_, where);
    ASSERT_TRUE(started) << started.error().message;
    listener_ = std::move(*started);
    options_.attempts = 1;
  }
  Result<LocalModel> fetch() {
    return fetch_model("http://" + listener_->http_address() + "/m/1", options_, {});
  }

  FolderApplication application_;
  std::unique_ptr<Listener> listener_;
  ModelSourceOptions options_;
};

TEST_F(ModelFetchTest, AFileAboveTheBoundEndsTheFetch) {
  ASSERT_TRUE(fetch()) << fetch().error().message;
  options_.file_bytes_max = 1999;
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, Code::TooLarge);
  EXPECT_NE(fetched.error().message.find("file_bytes_max"), std::string::npos);
}

TEST_F(ModelFetchTest, AnEndlessErrorIsNotRead) {
  for (const int status : {404, 500}) {
    application_.status = status;
    const auto fetched = fetch();
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code, Code::InvalidData) << fetched.error().message;
    EXPECT_NE(fetched.error().message.find("an error of more than"), std::string::npos);
  }
}

}  // namespace
}  // namespace sibyl::server
