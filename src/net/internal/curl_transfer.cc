#include "net/internal/curl_transfer.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"

namespace sibyl::net {
namespace {

constexpr size_t kReplyHeaderBytesMax = size_t{256} << 10;
constexpr long kConnectTimeoutMs = 10'000;
constexpr int kPollMs = 1000;

struct EasyClose {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct MultiClose {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
struct ListClose {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// What the callbacks fill while a transfer runs.
struct Receiver {
  CURL* handle = nullptr;
  HttpReply reply;
  const std::function<bool(std::string_view)>* on_bytes = nullptr;
  uint64_t body_bytes_max = 0;
  uint64_t body_bytes = 0;
  size_t header_bytes = 0;
  int64_t heard_us = 0;  ///< when the last byte came
  bool too_large = false;
  bool ended_by_caller = false;
};

size_t receive_header(char* bytes, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  receiver.heard_us = base::system_clock().steady_us();
  const std::string_view line(bytes, size * count);
  receiver.header_bytes += line.size();
  if (receiver.header_bytes > kReplyHeaderBytesMax) {
    receiver.too_large = true;
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // a new head: 100 Continue goes before the real one
    receiver.reply.headers.clear();
    return line.size();
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return line.size();
  }
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view value = line.substr(colon + 1);
  const size_t begin = value.find_first_not_of(" \t\r\n");
  const size_t end = value.find_last_not_of(" \t\r\n");
  value =
      begin == std::string_view::npos ? std::string_view() : value.substr(begin, end - begin + 1);
  std::string& kept = receiver.reply.headers[name];
  kept = kept.empty() ? std::string(value) : kept + ", " + std::string(value);
  return line.size();
}

size_t receive_body(char* bytes, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  receiver.heard_us = base::system_clock().steady_us();
  const std::string_view piece(bytes, size * count);
  receiver.body_bytes += piece.size();
  long status = 0;
  curl_easy_getinfo(receiver.handle, CURLINFO_RESPONSE_CODE, &status);
  const bool streamed = receiver.on_bytes != nullptr && status >= 200 && status < 300;
  if (!streamed && receiver.body_bytes > receiver.body_bytes_max) {
    receiver.too_large = true;
    return 0;
  }
  if (!streamed) {
    receiver.reply.body.append(piece);
    return piece.size();
  }
  if (!(*receiver.on_bytes)(piece)) {
    receiver.ended_by_caller = true;
    return 0;
  }
  return piece.size();
}

std::string_view host_of(std::string_view url) {
  const size_t scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']') + 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

Error error_of(CURLcode code, const HttpEndpoint& endpoint, const Receiver& receiver,
               const char* detail) {
  const std::string& where =
      endpoint.unix_socket.empty() ? endpoint.url : "unix:" + endpoint.unix_socket;
  if (receiver.too_large) {
    return Error{
        Code::TooLarge,
        fmt::format("the reply of {} is larger than {} bytes", where, receiver.body_bytes_max),
        {}};
  }
  const std::string why = detail[0] != '\0' ? detail : curl_easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Error{
        Code::DeadlineExceeded, fmt::format("{} did not answer in time: {}", where, why), {}};
  }
  if (code == CURLE_SSL_CACERT_BADFILE) {
    return Error{Code::NotFound,
                 fmt::format("the certificate file '{}' cannot be read: {}", endpoint.ca_file, why),
                 "ca_file"};
  }
  return Error{Code::Unavailable, fmt::format("{} does not answer: {}", where, why), {}};
}

/// Keeps SIGPIPE from this thread: OpenSSL writes to sockets without MSG_NOSIGNAL.
class BrokenPipeGuard {
 public:
  BrokenPipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~BrokenPipeGuard() {
    const timespec at_once{};
    if (!was_pending_) {
      sigtimedwait(&pipe_, nullptr, &at_once);  // takes the one that we made, if any
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

class MultiTransfer final : public CurlTransfer {
 public:
  MultiTransfer(std::unique_ptr<CURL, EasyClose> easy, std::unique_ptr<CURLM, MultiClose> multi)
      : multi_(std::move(multi)), easy_(std::move(easy)) {}

  Result<HttpReply> perform(const HttpEndpoint& endpoint, const HttpRequest& request,
                            const std::function<bool(std::string_view)>* on_bytes,
                            std::stop_token stop) override {
    const BrokenPipeGuard guard;
    curl_easy_reset(easy_.get());  // options only: connections and sessions are kept
    Receiver receiver;
    receiver.handle = easy_.get();
    receiver.on_bytes = on_bytes;
    receiver.body_bytes_max = request.body_bytes_max;
    char detail[CURL_ERROR_SIZE] = {};
    set_connection(endpoint);
    const auto headers = set_request(endpoint, request);
    if (headers == nullptr) {
      return fail(Code::ResourceExhausted, "no memory for the headers of a request");
    }
    set_receiver(receiver, detail);

    receiver.heard_us = base::system_clock().steady_us();
    const auto code = run(stop, receiver, request.stall_ms);
    if (!code) {
      return fail(Code::Interrupted, "stopped while waiting for {}", endpoint.url);
    }
    if (*code != CURLE_OK && !receiver.ended_by_caller) {
      return tl::unexpected<Error>(error_of(*code, endpoint, receiver, detail));
    }
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    receiver.reply.status = static_cast<int>(status);
    return std::move(receiver.reply);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }

  void set_connection(const HttpEndpoint& endpoint) {
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!endpoint.unix_socket.empty()) {
      set(CURLOPT_UNIX_SOCKET_PATH, endpoint.unix_socket.c_str());
    }
    if (!endpoint.unix_socket.empty() || is_loopback(host_of(endpoint.url))) {
      set(CURLOPT_PROXY, "");  // a proxy of the environment is for other machines
    }
    if (!endpoint.ca_file.empty()) {
      set(CURLOPT_CAINFO, endpoint.ca_file.c_str());
    }
  }

  /// The header list, which must live until the transfer ends; nullptr without memory.
  std::unique_ptr<curl_slist, ListClose> set_request(const HttpEndpoint& endpoint,
                                                     const HttpRequest& request) {
    set(CURLOPT_URL, (endpoint.url + request.path).c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    const bool has_body = !request.body.empty() || request.method == "POST" ||
                          request.method == "PUT" || request.method == "PATCH";
    if (has_body) {
      set(CURLOPT_POSTFIELDS, request.body.c_str());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    } else if (request.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else {
      set(CURLOPT_HTTPGET, 1L);
    }
    if (request.method != "HEAD") {
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    std::unique_ptr<curl_slist, ListClose> list;
    const auto append = [&list](const std::string& line) {
      curl_slist* longer = curl_slist_append(list.get(), line.c_str());
      if (longer != nullptr) {
        [[maybe_unused]] const curl_slist* same = list.release();
        list.reset(longer);
      }
      return longer != nullptr;
    };
    bool ok = append(has_body ? "Content-Type: " + request.content_type : "Accept: */*");
    for (const auto& [name, value] : request.headers) {
      // libcurl sends a header without a value only when a semicolon ends its name.
      ok = ok && append(value.empty() ? name + ";" : name + ": " + value);
    }
    if (!endpoint.api_key.empty()) {
      ok = ok && append("Authorization: Bearer " + endpoint.api_key);
    }
    if (!ok) {
      return nullptr;
    }
    set(CURLOPT_HTTPHEADER, list.get());
    return list;
  }

  void set_receiver(Receiver& receiver, char* detail) {
    set(CURLOPT_HEADERFUNCTION, &receive_header);
    set(CURLOPT_HEADERDATA, &receiver);
    set(CURLOPT_WRITEFUNCTION, &receive_body);
    set(CURLOPT_WRITEDATA, &receiver);
    set(CURLOPT_ERRORBUFFER, detail);
  }

  /// Empty when `stop` ended it.
  std::optional<CURLcode> run(const std::stop_token& stop, const Receiver& receiver,
                              int64_t stall_ms) {
    curl_multi_add_handle(multi_.get(), easy_.get());
    const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
    std::optional<CURLcode> code;
    int running = 1;
    while (running > 0 && !stop.stop_requested()) {
      const int64_t silent_ms = (base::system_clock().steady_us() - receiver.heard_us) / 1000;
      if (stall_ms > 0 && silent_ms >= stall_ms) {
        code = CURLE_OPERATION_TIMEDOUT;
        break;
      }
      const int64_t wait_ms =
          stall_ms > 0 ? std::min<int64_t>(kPollMs, stall_ms - silent_ms) : kPollMs;
      if (curl_multi_perform(multi_.get(), &running) != CURLM_OK ||
          (running > 0 && curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait_ms),
                                          nullptr) != CURLM_OK)) {
        code = CURLE_FAILED_INIT;
        break;
      }
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg == CURLMSG_DONE) {
        code = message->data.result;
      }
    }
    curl_multi_remove_handle(multi_.get(), easy_.get());
    return code;
  }

  std::unique_ptr<CURLM, MultiClose> multi_;
  std::unique_ptr<CURL, EasyClose> easy_;  // goes before the multi handle
};

}  // namespace

Result<std::unique_ptr<CurlTransfer>> CurlTransfer::create() {
  // Initialised once, by the first client; C++ makes that thread-safe.
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<CURL, EasyClose> easy(curl_easy_init());
  std::unique_ptr<CURLM, MultiClose> multi(curl_multi_init());
  if (initialised != CURLE_OK || easy == nullptr || multi == nullptr) {
    return fail(Code::ResourceExhausted, "libcurl cannot start: {}",
                curl_easy_strerror(initialised != CURLE_OK ? initialised : CURLE_OUT_OF_MEMORY));
  }
  return std::make_unique<MultiTransfer>(std::move(easy), std::move(multi));
}

}  // namespace sibyl::net
