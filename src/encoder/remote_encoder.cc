#include "encoder/remote_encoder.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/metrics.h"
#include "base/random.h"
#include "encoder/internal/circuit_breaker.h"
#include "encoder/internal/remote_protocol.h"
#include "encoder/internal/reply_verdict.h"

namespace sibyl::encoder {
namespace {

/// Counted for each served model.
struct RemoteMetrics {
  explicit RemoteMetrics(const std::string& model)
      : retries(base::metrics().counter("sibyl_remote_encoder_retries_total",
                                        "Calls of model servers that were tried again",
                                        {{"model", model}})),
        refused(base::metrics().counter("sibyl_remote_encoder_refused_total",
                                        "Calls not made because the ones before failed",
                                        {{"model", model}})),
        other_version(base::metrics().counter("sibyl_remote_encoder_other_version_total",
                                              "Replies of another model or version, refused",
                                              {{"model", model}})),
        circuit_open(base::metrics().gauge("sibyl_remote_encoder_circuit_open",
                                           "1 while a model server is not asked",
                                           {{"model", model}})),
        answered(calls(model, "answered")),
        failed(calls(model, "failed")) {}

  static base::Counter& calls(const std::string& model, const char* outcome) {
    return base::metrics().counter("sibyl_remote_encoder_calls_total",
                                   "Requests to model servers, by what became of them",
                                   {{"model", model}, {"outcome", outcome}});
  }

  base::Counter& retries;
  base::Counter& refused;
  base::Counter& other_version;
  base::Gauge& circuit_open;
  base::Counter& answered;
  base::Counter& failed;
};

/// One request with its texts and what its reply must be.
struct RemoteCall {
  std::span<const std::string_view> texts;
  TextKind kind = TextKind::Document;
  Urgency urgency = Urgency::Document;
  const EncoderInfo* expected = nullptr;  ///< nullptr: whatever answers
  bool is_probe = false;
  std::stop_token stop;
};

class HttpRemoteModel final : public RemoteModel,
                              public std::enable_shared_from_this<HttpRemoteModel> {
 public:
  HttpRemoteModel(RemoteAddress address, RemoteOptions options)
      : address_(std::move(address)),
        limits_(options.limits),
        transport_(std::move(options.transport)),
        clock_(*options.clock),
        breaker_({limits_.failures_to_open, limits_.open_ms * 1000, limits_.open_max_ms * 1000},
                 clock_),
        metrics_(address_.name),
        random_(std::hash<std::string>{}(address_.text())) {}

  const RemoteAddress& address() const override { return address_; }
  bool is_open() const override { return breaker_.is_open(); }
  Result<RemoteLook> probe(std::stop_token stop) override;
  std::shared_ptr<Encoder> encoder(EncoderInfo info,
                                   std::shared_ptr<const text::Tokenizer> tokenizer) override;

  const RemoteLimits& limits() const { return limits_; }
  /// One request, tried as often as its urgency allows.
  Result<RemoteVectors> call(const RemoteCall& call);

 private:
  /// One try: sent, judged, read, compared.
  Result<RemoteVectors> attempt(const RemoteCall& call, int64_t timeout_ms, bool new_connection,
                                Verdict& verdict);
  Result<RemoteVectors> read(const net::HttpReply& reply, const RemoteCall& call, bool binary,
                             Verdict& verdict);
  void compare(const RemoteVectors& vectors, const RemoteCall& call, Verdict& verdict);
  void note(const Verdict& verdict, bool is_probe);
  int64_t pause_us(int tries, int64_t asked_us);
  Error named(Error error) const;

  const RemoteAddress address_;
  const RemoteLimits limits_;
  const std::shared_ptr<RemoteTransport> transport_;
  const base::Clock& clock_;
  CircuitBreaker breaker_;
  RemoteMetrics metrics_;
  std::atomic<bool> binary_ = true;  ///< false once a proxy was seen to drop the extension's header
  std::mutex random_mutex_;
  base::Random random_;
};

/// Vectors of one version of a served model.
class RemoteEncoder final : public Encoder {
 public:
  RemoteEncoder(std::shared_ptr<HttpRemoteModel> model, EncoderInfo info,
                std::shared_ptr<const text::Tokenizer> tokenizer)
      : model_(std::move(model)), info_(std::move(info)), tokenizer_(std::move(tokenizer)) {}

  const EncoderInfo& info() const override { return info_; }
  const text::Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  Result<EncodedTexts> encode(std::span<const std::string_view> texts,
                              const EncodeOptions& options) override {
    if (options.tokens_max != 0) {
      return fail_field(Code::InvalidArgument, "tokens_max",
                        "model '{}' is served elsewhere and cuts texts at its own length, not at "
                        "{} tokens",
                        info_.reference(), options.tokens_max);
    }
    EncodedTexts out;
    out.vectors.reserve(texts.size() * info_.dimension);
    for (size_t first = 0; first < texts.size();) {
      const size_t count = batch_size(texts.subspan(first));
      if (auto done = encode_some(texts.subspan(first, count), options, out.vectors); !done) {
        return pass_on(done);
      }
      first += count;
    }
    return out;
  }

 private:
  size_t batch_size(std::span<const std::string_view> texts) const {
    const RemoteLimits& limits = model_->limits();
    size_t count = 0;
    size_t bytes = 0;
    while (count < std::min(texts.size(), limits.texts_max) &&
           (count == 0 || bytes + texts[count].size() <= limits.bytes_max)) {
      bytes += texts[count].size();
      ++count;
    }
    return count;
  }

  /// A server that says 413 is given halves; the recursion is as deep as a batch can be halved.
  Result<void> encode_some(std::span<const std::string_view> texts, const EncodeOptions& options,
                           std::vector<float>& out) {
    const size_t bytes_max = model_->limits().text_bytes_max;
    if (texts.size() == 1 && texts.front().size() > bytes_max) {
      return fail(Code::TooLarge, "a text has {} bytes; model '{}', served elsewhere, is sent {}",
                  texts.front().size(), info_.reference(), bytes_max);
    }
    auto vectors =
        model_->call({texts, options.kind, options.urgency, &info_, false, options.stop});
    if (vectors) {
      out.insert(out.end(), vectors->vectors.begin(), vectors->vectors.end());
      return {};
    }
    if (vectors.error().code != Code::TooLarge || texts.size() == 1) {
      return pass_on(vectors);
    }
    const size_t half = texts.size() / 2;
    if (auto done = encode_some(texts.first(half), options, out); !done) {
      return done;
    }
    return encode_some(texts.subspan(half), options, out);
  }

  const std::shared_ptr<HttpRemoteModel> model_;
  const EncoderInfo info_;
  const std::shared_ptr<const text::Tokenizer> tokenizer_;
};

Error HttpRemoteModel::named(Error error) const {
  error.message =
      fmt::format("model '{}' at {}: {}", address_.name, address_.text(), error.message);
  return error;
}

/// Growing pauses with the upper half left to chance (so that servers that were cut off together do
/// not come back together), or what the server asked for.
int64_t HttpRemoteModel::pause_us(int tries, int64_t asked_us) {
  const int64_t most = limits_.pause_max_ms * 1000;
  const int64_t grown = std::min(most, (limits_.pause_ms * 1000) << std::min(tries - 1, 16));
  const std::lock_guard lock(random_mutex_);
  const auto chosen =
      static_cast<int64_t>(static_cast<double>(grown) * (0.5 + random_.uniform() / 2));
  return std::max(chosen, std::min(asked_us, most));
}

void HttpRemoteModel::note(const Verdict& verdict, bool is_probe) {
  const bool fine = verdict.kind == Verdict::Kind::Fine;
  (fine ? metrics_.answered : metrics_.failed).add();
  if (verdict.counts) {
    breaker_.fail();
  } else if (verdict.error.code == Code::Interrupted || (is_probe && !fine)) {
    breaker_.give_up();
  } else {
    breaker_.succeed();
  }
  metrics_.circuit_open.set(breaker_.is_open() ? 1 : 0);
}

void HttpRemoteModel::compare(const RemoteVectors& vectors, const RemoteCall& call,
                              Verdict& verdict) {
  using Kind = Verdict::Kind;
  const auto refuse = [&](Kind kind, Code code, std::string words) {
    metrics_.other_version.add();
    verdict = {kind, kind == Kind::Over, 0, {code, std::move(words), {}}};
  };
  if (vectors.model != address_.name && vectors.model != address_.served_name) {
    refuse(Kind::Over, Code::Unavailable,
           fmt::format("it serves model '{}'; begin --encoder with the name that it serves",
                       vectors.model.substr(0, 64)));
  } else if (call.expected != nullptr && vectors.version != call.expected->version) {
    refuse(Kind::Again, Code::FailedPrecondition,
           fmt::format("it serves version {}, and version {} is wanted", vectors.version,
                       call.expected->version));
  } else if (call.expected != nullptr && vectors.dimension != call.expected->dimension) {
    refuse(Kind::Again, Code::FailedPrecondition,
           fmt::format("it gives vectors of dimension {}, and dimension {} is wanted",
                       vectors.dimension, call.expected->dimension));
  }
}

Result<RemoteVectors> HttpRemoteModel::read(const net::HttpReply& reply, const RemoteCall& call,
                                            bool binary, Verdict& verdict) {
  const ReplyLimits limits{call.texts.size(), limits_.dimension_max};
  const auto length = reply.headers.find("inference-header-content-length");
  const bool has_length = length != reply.headers.end();
  auto vectors =
      address_.protocol == RemoteProtocol::Seldon
          ? parse_seldon_reply(reply.body, limits)
          : parse_inference_reply(
                reply.body, has_length ? std::string_view(length->second) : std::string_view(),
                limits);
  if (!vectors) {
    verdict = {Verdict::Kind::Over, true, 0, vectors.error()};
    if (binary && !has_length) {
      binary_ = false;
      verdict = {Verdict::Kind::Again, false, 0, vectors.error()};
    }
    return vectors;
  }
  compare(*vectors, call, verdict);
  return vectors;
}

Result<RemoteVectors> HttpRemoteModel::attempt(const RemoteCall& call, int64_t timeout_ms,
                                               bool new_connection, Verdict& verdict) {
  const bool binary = address_.protocol == RemoteProtocol::OpenInference && binary_;
  net::HttpRequest request = address_.protocol == RemoteProtocol::Seldon
                                 ? make_seldon_request(address_, call.texts, call.kind)
                                 : make_inference_request(address_, call.texts, call.kind, binary);
  request.timeout_ms = timeout_ms;
  request.body_bytes_max = limits_.reply_bytes_max;
  const auto reply = transport_->send(request, new_connection, call.stop);
  verdict = judge(reply);
  if (verdict.kind != Verdict::Kind::Fine) {
    return tl::unexpected<Error>(verdict.error);
  }
  return read(*reply, call, binary, verdict);
}

Result<RemoteVectors> HttpRemoteModel::call(const RemoteCall& call) {
  const bool question = call.urgency == Urgency::Question;
  const int tries_max = call.is_probe ? 1
                        : question    ? limits_.question_tries_max
                                      : limits_.document_tries_max;
  const int64_t end_us = clock_.steady_us() + limits_.question_ms * 1000;
  bool new_connection = call.is_probe;
  for (int tries = 1;; ++tries) {
    if (!call.is_probe && !breaker_.admit()) {
      metrics_.refused.add();
      return tl::unexpected<Error>(
          named({Code::Unavailable,
                 fmt::format("it failed again and again and is asked again in {:.1f} s",
                             static_cast<double>(breaker_.remaining_us()) / 1e6),
                 {}}));
    }
    const int64_t left_ms = (end_us - clock_.steady_us()) / 1000;
    const int64_t timeout_ms = question ? std::max<int64_t>(left_ms, 1) : limits_.document_ms;
    Verdict verdict;
    auto vectors = attempt(call, timeout_ms, new_connection, verdict);
    note(verdict, call.is_probe);
    if (verdict.kind == Verdict::Kind::Fine) {
      return vectors;
    }
    const bool other = verdict.error.code == Code::FailedPrecondition;
    // While a new version is rolled out, the next connection may lead to the old one.
    new_connection = new_connection || other;
    const int64_t wait_us = pause_us(tries, verdict.retry_after_us);
    const bool in_time = !question || clock_.steady_us() + wait_us < end_us;
    if (verdict.kind != Verdict::Kind::Again || tries >= tries_max || !in_time) {
      return tl::unexpected<Error>(named(std::move(verdict.error)));
    }
    metrics_.retries.add();
    if (transport_->wait(wait_us, call.stop)) {
      return fail(Code::Interrupted, "stopped while model '{}' was asked", address_.name);
    }
  }
}

Result<RemoteLook> HttpRemoteModel::probe(std::stop_token stop) {
  const std::string_view text = kSampleText;
  // A probe that shows the extension not to pass is made once more without it.
  const bool was_binary = binary_;
  RemoteCall one{std::span(&text, 1), TextKind::Document, Urgency::Question, nullptr, true, stop};
  auto vectors = call(one);
  if (!vectors && was_binary && !binary_) {
    vectors = call(one);
  }
  if (!vectors) {
    return pass_on(vectors);
  }
  RemoteLook look;
  look.info.model = address_.name;
  look.info.version = vectors->version;
  look.info.dimension = vectors->dimension;
  look.info.integer_scheme = "none";
  look.sample = std::move(vectors->vectors);
  return look;
}

std::shared_ptr<Encoder> HttpRemoteModel::encoder(
    EncoderInfo info, std::shared_ptr<const text::Tokenizer> tokenizer) {
  return std::make_shared<RemoteEncoder>(shared_from_this(), std::move(info), std::move(tokenizer));
}

}  // namespace

Result<std::shared_ptr<RemoteModel>> RemoteModel::create(RemoteAddress address,
                                                         RemoteOptions options) {
  if (options.clock == nullptr) {
    options.clock = &base::system_clock();
  }
  if (options.transport == nullptr) {
    net::HttpEndpoint endpoint{address.url, {}, options.api_key, options.ca_file};
    if (auto opened = net::HttpClient::open(endpoint); !opened) {
      return pass_on(opened, fmt::format("--encoder {}", address.name));
    }
    options.transport = make_remote_transport(std::move(endpoint));
  }
  return std::make_shared<HttpRemoteModel>(std::move(address), std::move(options));
}

}  // namespace sibyl::encoder
