#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "encoder/encoder.h"
#include "net/http_client.h"

namespace sibyl::encoder {

/// How a model server elsewhere is spoken to: Seldon Core v1 over REST, or Open Inference v2 over
/// REST with the binary extension for what comes back.
enum class RemoteProtocol { Seldon, OpenInference };

/// A model that is served elsewhere, as `NAME=seldon+URL` or `NAME=v2+URL` says it.
struct RemoteAddress {
  std::string name;  ///< what collections call it, and what its replies must call it
  RemoteProtocol protocol = RemoteProtocol::Seldon;
  std::string url;          ///< "http://host:port"
  std::string path;         ///< what texts are posted to
  std::string served_name;  ///< Open Inference: the name in `path`, which replies may carry too
  std::string text() const { return url + path; }
};

/// Reads `NAME=KIND+URL`. A URL without a path gets the protocol's own address; one that ends in
/// `predict`, `predictions` or `infer` is taken as it is; `…/v2/models/OTHER` names the model
/// there; any other path is put before the protocol's address, as an ingress wants it.
/// InvalidArgument for user names and passwords in the URL, which are not repeated; Unimplemented
/// for `openai+`.
Result<RemoteAddress> parse_remote_address(std::string_view text);

/// Bounds of what is sent, waited for and tried again.
struct RemoteLimits {
  size_t texts_max = 64;                     ///< of one request
  size_t bytes_max = size_t{256} << 10;      ///< of its texts; a longer text goes alone
  size_t text_bytes_max = size_t{32} << 20;  ///< a longer text is refused
  uint64_t reply_bytes_max = uint64_t{64} << 20;
  size_t dimension_max = 32768;
  int64_t question_ms = 5'000;    ///< a question's call with all its tries
  int64_t document_ms = 120'000;  ///< one try of a request of documents
  int question_tries_max = 3;
  int document_tries_max = 6;
  int64_t pause_ms = 50;         ///< before the second try, doubled before each later one
  int64_t pause_max_ms = 5'000;  ///< also of a server's Retry-After
  int failures_to_open = 5;      ///< in a row; then nobody asks for `open_ms`
  int64_t open_ms = 1'000;       ///< doubled each time that the one call after it fails
  int64_t open_max_ms = 30'000;
};

/// What a look at a served model finds: what answers, and its vector of `kSampleText`, by which a
/// copy of the model is known to be one.
struct RemoteLook {
  EncoderInfo info;
  std::vector<float> sample;
};
inline constexpr std::string_view kSampleText = "How do I begin?";

/// How requests leave and time passes, so that tests decide both. Thread-safe.
class RemoteTransport {
 public:
  virtual ~RemoteTransport() = default;
  /// A reply of any status is a value. With `new_connection` another server behind the same address
  /// may answer.
  virtual Result<net::HttpReply> send(const net::HttpRequest& request, bool new_connection,
                                      std::stop_token stop) = 0;
  /// True when `stop` was requested before the time was over.
  virtual bool wait(int64_t microseconds, std::stop_token stop) = 0;
};
/// Keep-alive connections to `endpoint`, a few of which are kept.
std::shared_ptr<RemoteTransport> make_remote_transport(net::HttpEndpoint endpoint);

struct RemoteOptions {
  RemoteLimits limits;
  std::string api_key;                         ///< sent as `Authorization: Bearer`; never logged
  std::string ca_file;                         ///< empty: the system's
  std::shared_ptr<RemoteTransport> transport;  ///< nullptr: make_remote_transport
  const base::Clock* clock = nullptr;          ///< nullptr: the machine's
};

/// A model served elsewhere: asks again what is worth asking again (nobody answers, 429, 502, 503,
/// 504) with growing pauses, stops asking for a while when it fails again and again, and lets no
/// vector through that is not finite, of another dimension, or of another model or version than the
/// caller expects. Thread-safe.
class RemoteModel {
 public:
  static Result<std::shared_ptr<RemoteModel>> create(RemoteAddress address, RemoteOptions options);
  virtual ~RemoteModel() = default;
  virtual const RemoteAddress& address() const = 0;
  /// What answers at this moment, by one call with `kSampleText` over a connection of its own. It
  /// is made also while nobody else may ask, and its success ends that. Errors as those of
  /// `encode`.
  virtual Result<RemoteLook> probe(std::stop_token stop) = 0;
  /// True while calls are refused because the ones before failed.
  virtual bool is_open() const = 0;
  /// An encoder that takes vectors of exactly `info`'s model, version and dimension. It knows
  /// nothing about tokens: none are counted, and `EncodeOptions::tokens_max` is InvalidArgument.
  /// Errors of encode: Unavailable and DeadlineExceeded (try later), FailedPrecondition (another
  /// version answers), TooLarge (one text is too long for it), Interrupted. `tokenizer` may be
  /// null.
  virtual std::shared_ptr<Encoder> encoder(EncoderInfo info,
                                           std::shared_ptr<const text::Tokenizer> tokenizer) = 0;
};

}  // namespace sibyl::encoder
