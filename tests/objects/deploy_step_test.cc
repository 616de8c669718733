#include <cstdlib>
#include <thread>

#include "job/step.h"
#include "net/self_signed.h"
#include "store_double.h"

namespace sibyl::job {
namespace {

using base::Json;

constexpr const char* kSeldon =
    "/apis/machinelearning.seldon.io/v1/namespaces/ns/seldondeployments/sibyl-model-helpdesk";

/// An API server behind TLS with a certificate of its own, and the account folder of a pod.
class DeployStepTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = net::make_self_signed(path("key.pem"), path("cert.pem"));
    if (!made && made.error().code == Code::NotFound) {
      GTEST_SKIP() << "the program openssl is not here";
    }
    ASSERT_TRUE(made) << made.error().message;
    write("token", "secret-token\n");
    write("ca.crt", *base::read_file(path("cert.pem")));
    write(
        "objects.json",
        base::dump_json({{kSeldon, {{"kind", "SeldonDeployment"}, {"spec", {{"replicas", 3}}}}}}));
    base::ChildOptions options;
    options.arguments = {SIBYL_SYSTEM_PYTHON, "-B", SIBYL_API_DOUBLE, folder_.path()};
    api_ = std::move(*base::ChildProcess::start(options, path("api.log")));
    for (int i = 0; i < 400 && !base::real_file_system().exists(path("port")); ++i) {
      base::sleep_until_stop({}, 0.05);
    }
    context_.deploy.kind = "seldon";
    context_.deploy.name_space = "ns";
    context_.deploy.targets = R"({"helpdesk": "sibyl-model-helpdesk"})";
    context_.deploy.api_host = "127.0.0.1";
    context_.deploy.api_port = *base::read_file(path("port"));
    context_.deploy.account_folder = folder_.path();
  }
  void TearDown() override {
    if (api_ != nullptr) {
      api_->signal(9);
      api_->wait_exit_status(-1);
    }
  }
  std::string path(const std::string& name) const { return base::join_path(folder_.path(), name); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::replace_file(path(name), text));
  }
  Workspace published(const std::string& version) const {
    auto space = Workspace::open(path("workspace-" + version));
    EXPECT_TRUE(space);
    EXPECT_TRUE(base::replace_file(
        space->file("report/publish.json"),
        base::dump_json({{"model", "helpdesk@" + version}, {"version", version}})));
    EXPECT_TRUE(space->mark_done("publish"));
    return std::move(*space);
  }
  Json object(const std::string& where = kSeldon) const {
    return (*base::parse_json(*base::read_file(path("objects.json"))))[where];
  }
  std::vector<Json> requests() const {
    std::vector<Json> out;
    std::string text = *base::read_file(path("log.jsonl"));
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      out.push_back(*base::parse_json(text.substr(0, end)));
      text.erase(0, end + 1);
    }
    return out;
  }

  base::TemporaryDirectory folder_;
  std::unique_ptr<base::ChildProcess> api_;
  StepContext context_;
};

TEST_F(DeployStepTest, OneAnnotationIsAppliedAndNothingElseTouched) {
  Workspace space = published("3");
  const auto done = run_step("deploy", space, context_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(object()["spec"]["annotations"]["sibyl.dev/model-version"], "3");
  EXPECT_EQ(object()["spec"]["replicas"], 3);
  const auto sent = requests();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[1]["method"], "PATCH");
  EXPECT_EQ(sent[1]["query"], "fieldManager=sibyl&force=true");
  EXPECT_EQ(sent[1]["type"], "application/apply-patch+yaml");
  EXPECT_EQ(*base::parse_json(sent[1]["body"].get<std::string>()),
            Json({{"apiVersion", "machinelearning.seldon.io/v1"},
                  {"kind", "SeldonDeployment"},
                  {"metadata", {{"name", "sibyl-model-helpdesk"}, {"namespace", "ns"}}},
                  {"spec", {{"annotations", {{"sibyl.dev/model-version", "3"}}}}}}));
  EXPECT_TRUE(space.done("deploy"));
}

TEST_F(DeployStepTest, EachKindHasItsPlace) {
  const std::string kserve =
      "/apis/serving.kserve.io/v1beta1/namespaces/ns/inferenceservices/sibyl-model-helpdesk";
  const std::string plain = "/apis/apps/v1/namespaces/ns/deployments/sibyl-model-helpdesk";
  write("objects.json", base::dump_json({{kserve, Json::object()}, {plain, Json::object()}}));
  context_.deploy.kind = "kserve";
  Workspace first = published("4");
  ASSERT_TRUE(run_step("deploy", first, context_));
  EXPECT_EQ(object(kserve)["spec"]["predictor"]["annotations"]["sibyl.dev/model-version"], "4");
  context_.deploy.kind = "deployment";
  Workspace second = published("5");
  ASSERT_TRUE(run_step("deploy", second, context_));
  EXPECT_EQ(object(plain)["spec"]["template"]["metadata"]["annotations"]["sibyl.dev/model-version"],
            "5");
}

TEST_F(DeployStepTest, ThePointerIsWrittenFirst) {
  StoreDouble store;
  ::setenv("AWS_ENDPOINT_URL", store.url().c_str(), 1);
  ::setenv("AWS_REGION", "eu-test-1", 1);
  ::setenv("AWS_ACCESS_KEY_ID", "test-key", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "test-secret", 1);
  context_.store = "s3://bucket/p";
  context_.deploy.model = "helpdesk@2";
  context_.deploy.pointer = "candidate";
  auto space = Workspace::open(path("point"));
  const auto missing = run_step("deploy", *space, context_);
  EXPECT_EQ(missing.error().code, Code::NotFound);
  EXPECT_FALSE(object()["spec"].contains("annotations")) << "nothing was pointed at";
  store.control({{"put", {{"bucket/p/models/helpdesk/2/sibyl.json", "{}"}}}});
  const auto done = run_step("deploy", *space, context_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(store.control()["texts"]["bucket/p/models/helpdesk/candidate"],
            "{\"version\":\"2\"}\n");
  EXPECT_EQ(object()["spec"]["annotations"]["sibyl.dev/model-version"], "2");
}

TEST_F(DeployStepTest, AServerThatIsBusyIsAskedAgain) {
  write("faults.json", R"([{"method": "PATCH", "status": 409, "count": 1},
                           {"method": "GET", "status": 503, "count": 1}])");
  Workspace space = published("3");
  const auto done = run_step("deploy", space, context_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(requests().size(), 4U);
}

TEST_F(DeployStepTest, AServerThatIsAwayIsWaitedForUntilAStop) {
  context_.deploy.first_pause_seconds = 0.001;
  write("faults.json", R"([{"method": "GET", "status": 503, "count": 8}])");
  Workspace space = published("3");
  const auto done = run_step("deploy", space, context_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(requests().size(), 10U);
  write("faults.json", R"([{"method": "GET", "hang_s": 30, "count": 8}])");
  std::stop_source stop;
  context_.stop = stop.get_token();
  std::thread stopper([&] {
    while (requests().size() < 11) {
      base::sleep_until_stop({}, 0.01);
    }
    stop.request_stop();
  });
  Workspace next = published("4");
  const int64_t start_us = base::system_clock().steady_us();
  EXPECT_EQ(run_step("deploy", next, context_).error().code, Code::Interrupted);
  stopper.join();
  EXPECT_LT(base::system_clock().steady_us() - start_us, 5'000'000);
}

TEST_F(DeployStepTest, RefusalsAreSaidAtOnce) {
  Workspace space = published("3");
  write("faults.json", R"([{"method": "PATCH", "status": 403, "count": 1}])");
  const auto denied = run_step("deploy", space, context_);
  EXPECT_EQ(denied.error().code, Code::PermissionDenied);
  EXPECT_NE(denied.error().message.find("fault 403"), std::string::npos);
  EXPECT_EQ(requests().size(), 2U);
  write("faults.json", R"([{"method": "PATCH", "status": 422, "count": 1}])");
  EXPECT_EQ(run_step("deploy", space, context_).error().code, Code::InvalidData);
  context_.deploy.targets = R"({"helpdesk": "gone"})";
  EXPECT_EQ(run_step("deploy", space, context_).error().code, Code::NotFound);
  for (const Json& request : requests()) {
    EXPECT_TRUE(request["method"] == "GET" || request["path"] == kSeldon) << "nothing is created";
  }
}

TEST_F(DeployStepTest, WrongVariablesAreNamedBeforeAnythingIsDone) {
  Workspace space = published("3");
  const auto field = [&](auto change) {
    StepContext context = context_;
    change(context.deploy);
    const auto done = run_step("deploy", space, context);
    return done ? std::string("done") : done.error().field;
  };
  EXPECT_EQ(field([](DeployTarget& d) { d.kind = "sledon"; }), "SIBYL_DEPLOY_KIND");
  EXPECT_EQ(field([](DeployTarget& d) { d.pointer = "newest"; }), "SIBYL_DEPLOY_POINTER");
  EXPECT_EQ(field([](DeployTarget& d) { d.targets = "[]"; }), "SIBYL_DEPLOY_TARGETS");
  EXPECT_EQ(field([](DeployTarget& d) { d.targets = "{}"; }), "SIBYL_DEPLOY_TARGETS");
  EXPECT_EQ(field([](DeployTarget& d) { d.model = "helpdesk"; }), "SIBYL_DEPLOY_MODEL");
  EXPECT_EQ(field([](DeployTarget& d) { d.model = "help/desk@../3"; }), "SIBYL_DEPLOY_MODEL");
  EXPECT_EQ(field([](DeployTarget& d) { d.name_space = ""; }), "SIBYL_DEPLOY_NAMESPACE");
  EXPECT_EQ(field([](DeployTarget& d) { d.api_host = ""; }), "KUBERNETES_SERVICE_HOST");
  EXPECT_FALSE(base::real_file_system().exists(path("log.jsonl")));
}

TEST_F(DeployStepTest, AnotherCertificateIsNotTrusted) {
  ASSERT_TRUE(net::make_self_signed(path("other.key"), path("ca.crt")));
  Workspace space = published("3");
  std::stop_source stop;  // the refusal looks like a server that is not there, and is asked again
  context_.stop = stop.get_token();
  stop.request_stop();
  EXPECT_FALSE(run_step("deploy", space, context_));
  EXPECT_FALSE(base::real_file_system().exists(path("log.jsonl")));
}

}  // namespace
}  // namespace sibyl::job
