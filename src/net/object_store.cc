#include "net/object_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/file_system.h"
#include "net/internal/s3_connection.h"
#include "net/internal/s3_xml.h"
#include "net/sha256.h"

namespace sibyl::net {
namespace {

using internal::S3Connection;
using internal::S3Request;

constexpr const char* kSumHeader = "x-amz-meta-sha256";
constexpr uint64_t kPartsMax = 9000;  // 10,000 are allowed
constexpr uint64_t kFileBytesMax = uint64_t{1} << 40;
// Of a store that sends a whole object where a range was asked for.
constexpr uint64_t kWholeBytesMax = uint64_t{2} << 30;
// Of a listing; some stores give empty pages while they skip what was removed.
constexpr size_t kEmptyPagesMax = 100;
// For the end of an upload that failed, also behind a stop: pods have seconds left then.
constexpr int64_t kAbortMs = 2000;

bool is_ok(const HttpReply& reply) {
  return reply.status >= 200 && reply.status < 300;
}

std::string header_of(const HttpReply& reply, const std::string& name) {
  const auto found = reply.headers.find(name);
  return found == reply.headers.end() ? std::string() : found->second;
}

// The whole object's length from "bytes 0-99/1234".
Result<uint64_t> total_of(const HttpReply& reply, const std::string& key) {
  const std::string range = header_of(reply, "content-range");
  const size_t slash = range.rfind('/');
  uint64_t total = 0;
  const char* const end = range.data() + range.size();
  const auto read = slash == std::string::npos
                        ? std::from_chars_result{end, std::errc::invalid_argument}
                        : std::from_chars(range.data() + slash + 1, end, total);
  if (read.ec != std::errc() || read.ptr != end || total > kFileBytesMax) {
    return fail(Code::InvalidData, "the store's reply for {} has the Content-Range '{}'", key,
                range.substr(0, 80));
  }
  return total;
}

class S3Store final : public ObjectStore {
 public:
  explicit S3Store(std::unique_ptr<S3Connection> connection) : connection_(std::move(connection)) {}

  Result<std::string> get(const std::string& key, uint64_t bytes_max) override {
    S3Request request;
    request.key = key;
    request.reply_bytes_max = bytes_max;
    auto reply = send(std::move(request));
    return reply ? Result<std::string>(std::move(reply->body)) : pass_on(reply);
  }

  Result<void> get_file(const std::string& key, const std::string& path) override {
    auto& files = base::real_file_system();
    const std::string beside = path + ".part";
    auto file = files.create(beside);
    if (!file) {
      return pass_on(file);
    }
    auto sum = download(key, **file);
    if (!sum) {
      return pass_on(sum);
    }
    if (auto closed = (*file)->close(); !closed) {
      return closed;
    }
    if (!sum->empty()) {
      const auto ours = sha256_file(beside);
      if (!ours) {
        return tl::unexpected<Error>(ours.error());
      }
      if (*ours != *sum) {
        return fail(Code::DataLoss, "{} came with SHA-256 {}; the one noted is {}", shown(key),
                    *ours, *sum);
      }
    }
    return files.rename(beside, path);
  }

  Result<void> put(const std::string& key, std::string bytes, PutCondition condition) override {
    S3Request request;
    request.method = "PUT";
    request.key = key;
    request.body = std::move(bytes);
    if (condition == PutCondition::IfAbsent) {
      request.headers["if-none-match"] = "*";
    }
    auto reply = connection_->send(std::move(request));
    if (!reply) {
      return pass_on(reply);
    }
    if (reply->status == 412) {
      return fail(Code::AlreadyExists, "{} is there already", shown(key));
    }
    return check(*reply, key);
  }

  Result<void> put_file(const std::string& key, const std::string& path) override {
    // The view keeps the bytes of now, whatever replaces the file meanwhile.
    const auto view = base::real_file_system().map(path);
    if (!view) {
      return tl::unexpected<Error>(view.error());
    }
    const std::string_view bytes = (*view)->bytes();
    S3Request request;
    request.key = key;
    request.headers[kSumHeader] = sha256_hex(bytes);
    if (bytes.size() > connection_->options().part_bytes) {
      return put_parts(std::move(request), bytes);
    }
    request.method = "PUT";
    request.body = bytes;
    const auto reply = send(std::move(request));
    return reply ? Result<void>() : tl::unexpected<Error>(reply.error());
  }

  Result<std::vector<ObjectInfo>> list(const std::string& prefix, size_t objects_max) override {
    std::vector<ObjectInfo> objects;
    std::string token;
    size_t empty_pages = 0;
    do {
      S3Request request;
      request.query = {{"list-type", "2"}, {"prefix", prefix}};
      if (!token.empty()) {
        request.query["continuation-token"] = token;
      }
      auto reply = send(std::move(request));
      if (!reply) {
        return pass_on(reply);
      }
      auto page = internal::parse_list_page(reply->body);
      if (!page) {
        return pass_on(page);
      }
      empty_pages += page->objects.empty() ? 1 : 0;
      if ((page->next == token && !token.empty()) || empty_pages > kEmptyPagesMax) {
        return fail(Code::InvalidData, "the store's listing of {} does not move on", shown(prefix));
      }
      std::ranges::move(page->objects, std::back_inserter(objects));
      if (objects.size() > objects_max) {
        return fail(Code::ResourceExhausted, "{} holds more than {} objects", shown(prefix),
                    objects_max);
      }
      token = std::move(page->next);
    } while (!token.empty());
    return objects;
  }

  Result<void> remove(const std::string& key) override {
    S3Request request;
    request.method = "DELETE";
    request.key = key;
    const auto reply = connection_->send(std::move(request));
    return reply ? Result<void>() : tl::unexpected<Error>(reply.error());
  }

 private:
  std::string shown(const std::string& key) const {
    return fmt::format("s3://{}/{}", connection_->bucket(), key);
  }

  Result<void> check(const HttpReply& reply, const std::string& key) const {
    if (reply.status == 404) {
      const std::string code = internal::parse_s3_error(reply.body).code;
      return fail(Code::NotFound, "{} is not there{}", shown(key),
                  code.empty() ? "" : " (" + code + ")");
    }
    if (!is_ok(reply)) {
      return fail(Code::FailedPrecondition, "the store answers {} for {}: it was changed meanwhile",
                  reply.status, shown(key));
    }
    return {};
  }

  Result<HttpReply> send(S3Request request) {
    const std::string key = request.key;
    auto reply = connection_->send(std::move(request));
    if (reply) {
      if (auto good = check(*reply, key); !good) {
        return pass_on(good);
      }
    }
    return reply;
  }

  // In ranges, so that a lost line costs a range and not the file. The sum that was noted, or "".
  Result<std::string> download(const std::string& key, base::WritableFile& file) {
    const uint64_t part = connection_->options().part_bytes;
    uint64_t total = 1;
    std::string etag;
    std::string sum;
    for (uint64_t at = 0; at < total;) {
      S3Request request;
      request.key = key;
      request.headers["range"] = fmt::format("bytes={}-{}", at, at + part - 1);
      if (!etag.empty()) {
        request.headers["if-match"] = etag;
      }
      request.reply_bytes_max = std::max(part, kWholeBytesMax);
      auto reply = connection_->send(std::move(request));
      if (!reply) {
        return pass_on(reply);
      }
      if (reply->status == 416 && at == 0) {
        return std::string();  // an object without bytes has no range
      }
      if (auto good = check(*reply, key); !good) {
        return pass_on(good);
      }
      const HttpReply& http = *reply;
      if (http.status != 206 && at > 0) {
        return fail(Code::InvalidData, "the store gave a range of {} once and not again",
                    shown(key));
      }
      if (http.status != 206) {  // the store does not know ranges
        total = http.body.size();
      } else if (auto whole = total_of(http, key); whole) {
        total = *whole;
      } else {
        return pass_on(whole);
      }
      const uint64_t expected = std::min(part, total - std::min(at, total));
      if (http.status == 206 && http.body.size() != expected) {
        return fail(Code::DataLoss, "{} came with {} bytes from {} on; {} were asked for",
                    shown(key), http.body.size(), at, expected);
      }
      if (auto written = file.append(http.body); !written) {
        return pass_on(written);
      }
      at += http.body.size();
      etag = header_of(http, "etag");
      sum = header_of(http, kSumHeader);
    }
    return sum;
  }

  Result<void> put_parts(S3Request request, std::string_view bytes) {
    const std::string key = request.key;
    const std::string sum = request.headers[kSumHeader];
    request.method = "POST";
    request.query = {{"uploads", ""}};
    const auto begun = send(std::move(request));
    if (!begun) {
      return tl::unexpected<Error>(begun.error());
    }
    const auto id = internal::parse_upload_id(begun->body);
    if (!id) {
      return tl::unexpected<Error>(id.error());
    }
    auto done = send_parts(key, *id, bytes, sum);
    if (!done) {
      // Parts of an upload that never ends are kept, and cost.
      S3Request abort;
      abort.method = "DELETE";
      abort.key = key;
      abort.query = {{"uploadId", *id}};
      abort.last_ms = kAbortMs;
      static_cast<void>(connection_->send(std::move(abort)));
    }
    return done;
  }

  Result<void> send_parts(const std::string& key, const std::string& id, std::string_view bytes,
                          const std::string& sum) {
    const uint64_t part = std::max(connection_->options().part_bytes, bytes.size() / kPartsMax + 1);
    std::vector<std::string> etags;
    for (uint64_t at = 0; at < bytes.size(); at += part) {
      S3Request request;
      request.method = "PUT";
      request.key = key;
      request.query = {{"partNumber", std::to_string(etags.size() + 1)}, {"uploadId", id}};
      request.body = bytes.substr(at, part);
      const auto reply = send(std::move(request));
      if (!reply) {
        return tl::unexpected<Error>(reply.error());
      }
      etags.push_back(header_of(*reply, "etag"));
    }
    S3Request request;
    request.method = "POST";
    request.key = key;
    request.query = {{"uploadId", id}};
    request.body = internal::complete_upload_xml(etags);
    const auto reply = connection_->send(std::move(request));
    if (!reply) {
      return tl::unexpected<Error>(reply.error());
    }
    // A request whose answer was lost has ended the upload: then its id is not known any more.
    if (reply->status == 404) {
      return check_arrived(key, sum);
    }
    const internal::S3Error error = internal::parse_s3_error(reply->body);
    if (is_ok(*reply) && !error.code.empty()) {
      return fail(Code::Unavailable, "the store could not put the parts of {} together: {} {}",
                  shown(key), error.code, error.message);
    }
    return check(*reply, key);
  }

  Result<void> check_arrived(const std::string& key, const std::string& sum) {
    S3Request request;
    request.method = "HEAD";
    request.key = key;
    const auto reply = connection_->send(std::move(request));
    if (!reply) {
      return tl::unexpected<Error>(reply.error());
    }
    if (header_of(*reply, kSumHeader) != sum) {
      return fail(Code::Unavailable, "the upload of {} was lost; run it again", shown(key));
    }
    return {};
  }

  std::unique_ptr<S3Connection> connection_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> ObjectStore::open(ObjectStoreOptions options,
                                                       std::string bucket, std::stop_token stop) {
  auto connection =
      internal::S3Connection::open(std::move(options), std::move(bucket), std::move(stop));
  if (!connection) {
    return pass_on(connection);
  }
  return std::make_unique<S3Store>(std::move(*connection));
}

}  // namespace sibyl::net
