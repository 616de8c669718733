#include "server/internal/request_reader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "server/internal/request_id.h"
#include "server/internal/request_target.h"

namespace sibyl::server {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

ReadRefusal too_large(uint64_t bytes_max) {
  return {413,
          {Code::TooLarge,
           fmt::format("the body is larger than {} bytes (body_bytes_max); send it in several "
                       "requests",
                       bytes_max),
           {}}};
}

class BeastRequestReader final : public RequestReader {
 public:
  explicit BeastRequestReader(const Limits& limits) : limits_(limits) {
    parser_.header_limit(limits.header_bytes_max);
    parser_.body_limit(boost::none);  // checked by us, so that the peer is told
  }

  size_t feed(std::string_view bytes) override {
    if (state_ == State::Done || state_ == State::Refused) {
      return 0;
    }
    beast::error_code error;
    const size_t used = parser_.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (error && error != http::error::need_more) {
      refuse(refusal_of(error));
      return used;
    }
    if (state_ == State::Head && parser_.is_header_done()) {
      finish_head();
    }
    if (state_ == State::Body && parser_.is_done()) {
      state_ = State::Done;
    }
    return used;
  }

  State state() const override { return state_; }
  const ReadRefusal& refusal() const override { return refusal_; }
  const Request& head() const override { return request_; }
  std::optional<uint64_t> content_length() const override {
    const auto length = parser_.content_length();
    return length ? std::optional<uint64_t>(*length) : std::nullopt;
  }
  bool expects_continue() const override {
    return beast::iequals(parser_.get()[http::field::expect], "100-continue");
  }
  bool keep_alive() const override { return parser_.get().keep_alive(); }
  unsigned version() const override { return parser_.get().version(); }
  uint64_t body_bytes() const override { return parser_.get().body().size(); }
  Request take() override {
    request_.body = std::move(parser_.get().body());
    return std::move(request_);
  }

 private:
  void refuse(ReadRefusal refusal) {
    refusal_ = std::move(refusal);
    state_ = State::Refused;
  }

  ReadRefusal refusal_of(const beast::error_code& error) const {
    if (error == http::error::header_limit) {
      return {431,
              {Code::TooLarge,
               fmt::format("the header is larger than {} bytes", limits_.header_bytes_max),
               {}}};
    }
    if (error == http::error::body_limit) {
      return too_large(limits_.body_bytes_max);
    }
    return {400, {Code::InvalidArgument, "this is no HTTP/1.1 request: " + error.message(), {}}};
  }

  void finish_head() {
    const auto& head = parser_.get();
    request_.method = std::string(view(head.method_string()));
    for (const auto& field : head) {
      std::string name(view(field.name_string()));
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      std::string& value = request_.headers[name];
      value = value.empty() ? std::string(view(field.value()))
                            : value + ", " + std::string(view(field.value()));
    }
    request_.id = request_id_of(request_.headers);
    if (auto wrong = check_fields()) {
      return refuse(std::move(*wrong));
    }
    auto target = parse_request_target(view(head.target()));
    if (!target) {
      return refuse({http_status(target.error().code), target.error()});
    }
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    if (content_length().value_or(0) > limits_.body_bytes_max) {
      return refuse(too_large(limits_.body_bytes_max));
    }
    parser_.body_limit(limits_.body_bytes_max);
    parser_.eager(true);
    state_ = State::Body;
  }

  std::optional<ReadRefusal> check_fields() const {
    const auto& head = parser_.get();
    const size_t hosts = head.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && head.version() >= 11)) {
      return ReadRefusal{
          400, {Code::InvalidArgument, "a request must have exactly one Host header", "Host"}};
    }
    const auto coding = head.find(http::field::transfer_encoding);
    if (coding != head.end() && !beast::iequals(coding->value(), "chunked")) {
      return ReadRefusal{400,
                         {Code::InvalidArgument,
                          fmt::format("the Transfer-Encoding '{}' is not read; send chunked or a "
                                      "Content-Length",
                                      view(coding->value())),
                          "Transfer-Encoding"}};
    }
    if (head.count(http::field::expect) > 0 && !expects_continue()) {
      return ReadRefusal{417,
                         {Code::InvalidArgument,
                          fmt::format("the expectation '{}' is not known; 100-continue is",
                                      view(head[http::field::expect])),
                          "Expect"}};
    }
    return std::nullopt;
  }

  const Limits limits_;
  http::request_parser<http::string_body> parser_;
  Request request_;
  State state_ = State::Head;
  ReadRefusal refusal_;
};

}  // namespace

std::unique_ptr<RequestReader> RequestReader::create(const Limits& limits) {
  return std::make_unique<BeastRequestReader>(limits);
}

}  // namespace sibyl::server
