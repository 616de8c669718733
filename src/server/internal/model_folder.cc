#include "server/internal/model_folder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/file_system.h"
#include "net/http_client.h"
#include "net/object_store.h"

namespace sibyl::server {
namespace {

/// The parts of a path encoded, its slashes kept.
std::string encoded_path(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    out += net::encode_uri_part(path.substr(0, slash));
    path.remove_prefix(slash);
    if (!path.empty()) {
      out += '/';
      path.remove_prefix(1);
    }
  }
  return out;
}

Code code_of_status(int status) {
  switch (status) {
    case 401:
      return Code::Unauthenticated;
    case 403:
      return Code::PermissionDenied;
    case 404:
    case 410:
      return Code::NotFound;
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return Code::Unavailable;
    default:
      return Code::InvalidData;
  }
}

class HttpFolder final : public ModelFolder {
 public:
  HttpFolder(std::string origin, std::unique_ptr<net::HttpClient> client, uint64_t file_bytes_max,
             std::stop_token stop)
      : origin_(std::move(origin)),
        client_(std::move(client)),
        file_bytes_max_(file_bytes_max),
        stop_(std::move(stop)) {}

  Result<std::string> read(const std::string& path, uint64_t bytes_max) override {
    std::string out;
    bool fits = true;
    auto read = stream(path, [&](std::string_view bytes) {
      fits = out.size() + bytes.size() <= bytes_max;
      out.append(bytes);
      return fits;
    });
    if (!fits) {
      return fail(Code::TooLarge, "{}{} is larger than {} bytes", origin_, path, bytes_max);
    }
    return read ? Result<std::string>(std::move(out)) : pass_on(read);
  }

  Result<void> fetch(const std::string& path, const std::string& target) override {
    auto file = base::real_file_system().create(target);
    if (!file) {
      return pass_on(file);
    }
    Result<void> written;
    auto read = stream(path, [&](std::string_view bytes) {
      written = (*file)->size() + bytes.size() <= file_bytes_max_
                    ? (*file)->append(bytes)
                    : fail(Code::TooLarge, "{}{} is larger than {} bytes (file_bytes_max)", origin_,
                           path, file_bytes_max_);
      return written.has_value();
    });
    if (!written || !read) {
      return !written ? written : read;
    }
    return (*file)->close();
  }

 private:
  Result<void> stream(const std::string& path,
                      const std::function<bool(std::string_view)>& on_bytes) {
    net::HttpRequest request;
    request.path = encoded_path(path);
    request.timeout_ms = kFileTimeoutMs;
    request.body_bytes_max = kErrorBytesMax;  // a file's own bytes are counted as they come
    const auto reply = client_->stream(request, on_bytes, stop_);
    if (!reply) {
      return reply.error().code == Code::TooLarge
                 ? fail(Code::InvalidData, "{}{} answers with an error of more than {} bytes",
                        origin_, path, kErrorBytesMax)
                 : tl::unexpected<Error>(reply.error());
    }
    if (reply->status < 200 || reply->status > 299) {
      return fail(code_of_status(reply->status), "{}{} answers with {}", origin_, path,
                  reply->status);
    }
    return {};
  }

  static constexpr int64_t kFileTimeoutMs = 3'600'000;
  static constexpr uint64_t kErrorBytesMax = uint64_t{1} << 20;
  const std::string origin_;
  const std::unique_ptr<net::HttpClient> client_;
  const uint64_t file_bytes_max_;
  const std::stop_token stop_;
};

class BucketFolder final : public ModelFolder {
 public:
  explicit BucketFolder(std::unique_ptr<net::ObjectStore> store) : store_(std::move(store)) {}

  Result<std::string> read(const std::string& path, uint64_t bytes_max) override {
    return store_->get(path.substr(1), bytes_max);
  }
  Result<void> fetch(const std::string& path, const std::string& target) override {
    return store_->get_file(path.substr(1), target);
  }

 private:
  const std::unique_ptr<net::ObjectStore> store_;
};

}  // namespace

Result<std::unique_ptr<ModelFolder>> ModelFolder::open(const std::string& origin,
                                                       const ModelSourceOptions& options,
                                                       std::stop_token stop) {
  static constexpr std::string_view kBucket = "s3://";
  if (origin.starts_with(kBucket)) {
    auto from = net::object_store_from_environment();
    if (!from) {
      return pass_on(from);
    }
    auto store = net::ObjectStore::open(std::move(*from), origin.substr(kBucket.size()), stop);
    if (!store) {
      return pass_on(store);
    }
    return std::make_unique<BucketFolder>(std::move(*store));
  }
  auto client = net::HttpClient::open({origin, {}, options.api_key, options.ca_file});
  if (!client) {
    return pass_on(client);
  }
  return std::make_unique<HttpFolder>(origin, std::move(*client), options.file_bytes_max,
                                      std::move(stop));
}

}  // namespace sibyl::server
