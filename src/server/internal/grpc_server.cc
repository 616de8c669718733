#include "server/internal/grpc_server.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <utility>

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "base/file_system.h"
#include "base/log.h"
#include "server/internal/address.h"
#include "server/internal/inference_service.h"
#include "server/internal/seldon_service.h"

namespace sibyl::server {
namespace {

constexpr int kCallsOfAConnectionMax = 128;
constexpr int kMetadataBytesMax = 65536;
constexpr uint64_t kKeyFileBytesMax = 1 << 20;

/// What gRPC writes about itself goes where our log goes.
void log_line(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_ERROR) {
    base::log_debug("grpc", "{}", line->message);
  }
}

void set_up_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(log_line);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

Result<std::shared_ptr<grpc::ServerCredentials>> credentials_of(const ListenerOptions& options) {
  if (options.tls_certificate_file.empty() && options.tls_key_file.empty()) {
    return grpc::InsecureServerCredentials();
  }
  auto certificate = base::read_file(options.tls_certificate_file, kKeyFileBytesMax);
  auto key = base::read_file(options.tls_key_file, kKeyFileBytesMax);
  if (!certificate || !key) {
    return pass_on(!certificate ? certificate : key);
  }
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({std::move(*key), std::move(*certificate)});
  return grpc::SslServerCredentials(tls);
}

/// "host:port" as gRPC wants it.
Result<std::string> target_of(const std::string& address, bool loopback_only) {
  const auto parsed = parse_host_port(address);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  if (loopback_only && !is_loopback_host(parsed->host)) {
    return fail(Code::InvalidConfig,
                "'{}' can be reached from other machines, which needs keys: give --api-keys FILE, "
                "or listen at a loopback address such as 127.0.0.1:{}",
                address, parsed->port);
  }
  const std::string host = parsed->host.empty() ? "0.0.0.0" : parsed->host;
  return fmt::format(fmt::runtime(host.find(':') == std::string::npos ? "{}:{}" : "[{}]:{}"), host,
                     parsed->port);
}

class CallbackGrpcServer final : public GrpcServer {
 public:
  CallbackGrpcServer(ModelService& models, Serving& serving)
      : calls_(models, serving), inference_(calls_), model_(calls_), seldon_(calls_) {}
  ~CallbackGrpcServer() override { stop(0); }

  Result<void> open(const ListenerOptions& options, bool loopback_only) {
    const auto target = target_of(options.grpc, loopback_only);
    const auto credentials = credentials_of(options);
    if (!target || !credentials) {
      return tl::unexpected<Error>(!target ? target.error() : credentials.error());
    }
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(*target, *credentials, &port);
    builder.RegisterService(&inference_);
    builder.RegisterService(&model_);
    builder.RegisterService(&seldon_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<uint64_t>(options.body_bytes_max, uint64_t{std::numeric_limits<int>::max()})));
    builder.SetResourceQuota(grpc::ResourceQuota("sibyl").Resize(options.bodies_bytes_max));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsOfAConnectionMax);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return fail(Code::Unavailable,
                  "{} cannot be listened at: it is in use by another process, is no address of "
                  "this machine, or the TLS files are wrong",
                  options.grpc);
    }
    address_ = fmt::format("{}:{}", target->substr(0, target->rfind(':')), port);
    return {};
  }

  std::string address() const override { return address_; }

  void stop(int64_t timeout_ms) override {
    if (server_ == nullptr) {
      return;
    }
    if (auto* const health = server_->GetHealthCheckService()) {
      health->Shutdown();
    }
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(timeout_ms));
    server_->Wait();
    server_.reset();
  }

 private:
  GrpcCalls calls_;
  InferenceService inference_;
  SeldonModelService model_;
  SeldonClientService seldon_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(ModelService& models, Serving& serving,
                                                      bool loopback_only) {
  set_up_library();
  auto server = std::make_unique<CallbackGrpcServer>(models, serving);
  if (auto opened = server->open(serving.options(), loopback_only); !opened) {
    return pass_on(opened);
  }
  return server;
}

}  // namespace sibyl::server
