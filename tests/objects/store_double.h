#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/child_process.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/stop.h"
#include "net/http_client.h"
#include "net/object_store.h"

namespace sibyl {

/// The double of s3_double.py, running until this goes.
class StoreDouble {
 public:
  StoreDouble() {
    const std::string file = base::join_path(folder_.path(), "url");
    base::ChildOptions options;
    options.arguments = {SIBYL_SYSTEM_PYTHON, "-B", SIBYL_S3_DOUBLE, file};
    auto child = base::ChildProcess::start(options, "");
    EXPECT_TRUE(child);
    child_ = std::move(*child);
    for (int i = 0; i < 400 && !base::real_file_system().exists(file); ++i) {
      base::sleep_until_stop({}, 0.05);
    }
    url_ = *base::read_file(file);
    client_ = std::move(*net::HttpClient::open({url_, {}, {}, {}}));
  }
  ~StoreDouble() {
    child_->signal(9);
    child_->wait_exit_status(-1);
  }
  StoreDouble(const StoreDouble&) = delete;
  StoreDouble& operator=(const StoreDouble&) = delete;

  const std::string& url() const { return url_; }
  net::ObjectStoreOptions options() const {
    net::ObjectStoreOptions options;
    options.endpoint = url_;
    options.region = "eu-test-1";
    options.access_key = "test-key";
    options.secret_key = "test-secret";
    options.first_pause_ms = 1;
    return options;
  }
  /// What the double knows, after it was told something (see s3_double.py).
  base::Json control(const base::Json& told = base::Json::object()) {
    net::HttpRequest request;
    request.method = "POST";
    request.path = "/__control";
    request.body = base::dump_json(told);
    const auto reply = client_->send(request);
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return *base::parse_json(reply->body);
  }
  void fail_next(base::Json fault) { control({{"faults", base::Json::array({std::move(fault)})}}); }

 private:
  base::TemporaryDirectory folder_;
  std::unique_ptr<base::ChildProcess> child_;
  std::string url_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace sibyl
