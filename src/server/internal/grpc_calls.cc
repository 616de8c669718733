#include "server/internal/grpc_calls.h"

#include <exception>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "server/internal/lanes.h"

namespace sibyl::server {
namespace {

/// Whatever is thrown is memory or a bug: one call must not end the others.
Result<void> guarded(std::string_view method, const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    base::log_error("server", "grpc {} failed: {}", method, thrown.what());
    return fail(Code::Internal, "the server failed; its log says why");
  }
}

void finish(grpc::ServerUnaryReactor* reactor, std::string_view method, int64_t begin_us,
            const Result<void>& outcome, bool quiet) {
  const int64_t took_us = base::system_clock().steady_us() - begin_us;
  const std::string_view status = outcome ? "ok" : code_name(outcome.error().code);
  base::metrics()
      .counter("sibyl_grpc_requests_total", "Calls over gRPC by method and status",
               {{"method", std::string(method)}, {"status", std::string(status)}})
      .add();
  base::metrics()
      .histogram("sibyl_grpc_request_seconds", "Time to a reply over gRPC, by method",
                 {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60},
                 {{"method", std::string(method)}})
      .observe(static_cast<double>(took_us) / 1e6);
  if (!quiet) {
    base::log_info("server", "grpc {} {} {:.1f} ms", method, status,
                   static_cast<double>(took_us) / 1000);
  }
  reactor->Finish(outcome ? grpc::Status::OK : grpc_status_of(outcome.error()));
}

std::string authorization_of(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find("authorization");
  return found == context.client_metadata().end()
             ? std::string()
             : std::string(found->second.data(), found->second.size());
}

}  // namespace

grpc::Status grpc_status_of(const Error& error) {
  return {static_cast<grpc::StatusCode>(grpc_status(error.code)), error.message};
}

grpc::ServerUnaryReactor* GrpcCalls::run(grpc::CallbackServerContext* context,
                                         std::string_view method, uint64_t bytes,
                                         std::function<Result<void>()> work) {
  const int64_t begin_us = base::system_clock().steady_us();
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  Result<void> refused = models_.check(authorization_of(*context), false);
  if (refused && !models_.ready()) {
    refused = fail(Code::Unavailable, "the server is shutting down");
  }
  const bool entered = refused && serving_.enter_grpc_call();
  if (refused && !entered) {
    refused = fail(Code::ResourceExhausted,
                   "the server is busy: {} calls run or wait (grpc_calls_max); try again in a "
                   "moment",
                   serving_.options().grpc_calls_max);
  }
  if (refused) {
    const Lane lane = bytes > kQuickTextBytesMax ? Lane::Long : Lane::Quick;
    refused = serving_.submit(lane, [=, &serving = serving_, work = std::move(work)] {
      const Result<void> outcome = context->IsCancelled()
                                       ? fail(Code::Interrupted, "the client is gone")
                                       : guarded(method, work);
      serving.leave_grpc_call();  // before the reply, after which nobody waits for this
      finish(reactor, method, begin_us, outcome, false);
    });
  }
  if (!refused) {
    if (entered) {
      serving_.leave_grpc_call();
    }
    finish(reactor, method, begin_us, refused, false);
  }
  return reactor;
}

grpc::ServerUnaryReactor* GrpcCalls::answer(grpc::CallbackServerContext* context,
                                            std::string_view method,
                                            const std::function<Result<void>()>& work) {
  const int64_t begin_us = base::system_clock().steady_us();
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  finish(reactor, method, begin_us, guarded(method, work), true);
  return reactor;
}

}  // namespace sibyl::server
