#include "server/internal/page_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file_system.h"
#include "base/gzip.h"
#include "net/sha256.h"
#include "server/internal/replies.h"
#include "server/internal/request_target.h"
#include "server/page.h"

namespace sibyl::server {
namespace {

constexpr uint64_t kFileBytesMax = uint64_t{64} << 20;
constexpr std::string_view kIndex = "/index.html";
constexpr const char* kPolicy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'self'";

std::string_view header(const Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string_view() : found->second;
}

/// Decoded and whole: "/a/../b" is no path of the page.
std::optional<std::string> clean_path(const std::string& path) {
  const auto segments = split_path(path);
  if (!segments) {
    return std::nullopt;
  }
  std::string clean;
  for (const std::string& segment : *segments) {
    if (segment.starts_with('.') ||
        segment.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
      return std::nullopt;
    }
    clean += "/" + segment;
  }
  return clean.empty() || clean == "/" ? std::string(kIndex) : clean;
}

/// The page's own addresses have no dot; "/v1/…" is never one of them.
bool may_be_page_address(std::string_view path) {
  return path.find('.') == std::string_view::npos && path != "/v1" && !path.starts_with("/v1/");
}

Response page_response(std::string_view type, std::string_view etag, bool immutable) {
  Response response;
  response.content_type = std::string(type);
  response.headers["ETag"] = std::string(etag);
  response.headers["Cache-Control"] =
      immutable ? "public, max-age=31536000, immutable" : "no-cache";
  response.headers["Content-Security-Policy"] = kPolicy;
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["Referrer-Policy"] = "no-referrer";
  response.headers["Vary"] = "Accept-Encoding";
  return response;
}

Response not_modified(Response response) {
  response.status = 304;
  response.content_type.clear();
  return response;
}

class EmbeddedPage final : public PageSource {
 public:
  std::optional<Response> find(const Request& request) const override {
    const auto path = clean_path(request.path);
    if (!path) {
      return std::nullopt;
    }
    const PageAsset* asset = find_page_asset(*path);
    if (asset == nullptr && may_be_page_address(*path)) {
      asset = find_page_asset(kIndex);
    }
    if (asset != nullptr) {
      return serve(*asset, request);
    }
    return *path == kIndex ? std::optional<Response>(not_built()) : std::nullopt;
  }

 private:
  static Response serve(const PageAsset& asset, const Request& request) {
    Response response = page_response(asset.content_type, asset.etag, asset.immutable);
    if (matches_etag(header(request, "if-none-match"), asset.etag)) {
      return not_modified(std::move(response));
    }
    if (accepts_gzip(header(request, "accept-encoding"))) {
      response.headers["Content-Encoding"] = "gzip";
      response.body = std::string(asset.gzip);
      return response;
    }
    auto plain = base::gunzip(asset.gzip, kFileBytesMax);
    if (!plain) {
      return problem(plain.error());
    }
    response.body = std::move(*plain);
    return response;
  }

  static Response not_built() {
    Response response;
    response.content_type = "text/plain; charset=utf-8";
    response.body =
        "This program was built without its page. Everything else is here: see /openapi.json, or "
        "build with -DSIBYL_WEB=ON.\n";
    return response;
  }
};

class FolderPage final : public PageSource {
 public:
  explicit FolderPage(std::string root) : root_(std::move(root)) {}

  std::optional<Response> find(const Request& request) const override {
    const auto path = clean_path(request.path);
    if (!path) {
      return std::nullopt;
    }
    auto served = serve(*path, request);
    if (!served && may_be_page_address(*path)) {
      served = serve(std::string(kIndex), request);
    }
    return served;
  }

 private:
  std::optional<Response> serve(const std::string& path, const Request& request) const {
    const std::string file = root_ + path;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
      return std::nullopt;
    }
    auto bytes = base::read_file(file, kFileBytesMax);
    if (!bytes) {
      return problem(bytes.error());
    }
    const std::string etag = "\"" + net::sha256_hex(*bytes) + "\"";
    Response response = page_response(content_type_of(path), etag, false);
    if (matches_etag(header(request, "if-none-match"), etag)) {
      return not_modified(std::move(response));
    }
    response.body = std::move(*bytes);
    return response;
  }

  const std::string root_;
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Calls `visit` with each item of a comma-separated header until it gives true.
template <class Visit>
bool any_item(std::string_view list, const Visit& visit) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    if (visit(trimmed(item))) {
      return true;
    }
  }
  return false;
}

/// "gzip;q=0" and "gzip;q=0.000" forbid it.
bool has_zero_quality(std::string_view parameters) {
  const size_t q = parameters.find("q=");
  if (q == std::string_view::npos) {
    return false;
  }
  const std::string_view digits = trimmed(parameters.substr(q + 2));
  return !digits.empty() && digits.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::unique_ptr<PageSource> PageSource::create(const std::string& web_root) {
  if (web_root.empty()) {
    return std::make_unique<EmbeddedPage>();
  }
  return std::make_unique<FolderPage>(web_root);
}

bool accepts_gzip(std::string_view accept_encoding) {
  bool forbidden = false;
  const bool named = any_item(accept_encoding, [&forbidden](std::string_view item) {
    const std::string_view name = trimmed(item.substr(0, item.find(';')));
    const bool zero = has_zero_quality(item.substr(std::min(item.size(), name.size())));
    forbidden = forbidden || (name == "gzip" && zero);
    return (name == "gzip" || (name == "*" && !forbidden)) && !zero;
  });
  return named;
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  return any_item(if_none_match, [etag](std::string_view item) {
    if (item.starts_with("W/")) {
      item.remove_prefix(2);
    }
    return item == "*" || item == etag;
  });
}

std::string_view content_type_of(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".ico", "image/x-icon"},
      {".webp", "image/webp"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
      {".map", "application/json"},
  }};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) {
      return type;
    }
  }
  return "application/octet-stream";
}

}  // namespace sibyl::server
