#include "server/internal/form_body.h"

#include <algorithm>
#include <cctype>

#include "server/internal/request_target.h"

namespace sibyl::server {
namespace {

constexpr std::string_view kUrlEncoded = "application/x-www-form-urlencoded";
constexpr std::string_view kMultipart = "multipart/form-data";
constexpr size_t kBoundaryBytesMax = 70;  // RFC 2046 5.1.1

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view media_type(std::string_view content_type) {
  return trimmed(content_type.substr(0, content_type.find(';')));
}

/// The value of `name=` or `name="…"` behind the first semicolon; empty when it is not there.
std::string_view parameter_of(std::string_view value, std::string_view name) {
  size_t semicolon = value.find(';');
  while (semicolon != std::string_view::npos) {
    value.remove_prefix(semicolon + 1);
    semicolon = value.find(';');
    const std::string_view pair = trimmed(value.substr(0, semicolon));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || !equals_ignoring_case(pair.substr(0, equals), name)) {
      continue;
    }
    std::string_view found = pair.substr(equals + 1);
    if (found.size() >= 2 && found.front() == '"' && found.back() == '"') {
      found = found.substr(1, found.size() - 2);
    }
    return found;
  }
  return {};
}

/// The field's name from the headers of a part.
std::string_view name_of_part(std::string_view headers) {
  static constexpr std::string_view kDisposition = "content-disposition:";
  while (!headers.empty()) {
    const size_t end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    if (line.size() > kDisposition.size() &&
        equals_ignoring_case(line.substr(0, kDisposition.size()), kDisposition)) {
      return parameter_of(line, "name");
    }
  }
  return {};
}

Error no_form(std::string_view why) {
  return {Code::InvalidArgument, fmt::format("the body is no multipart form: {}", why),
          "Content-Type"};
}

Result<std::map<std::string, std::string>> parse_multipart(std::string_view content_type,
                                                           std::string_view body) {
  const std::string_view boundary = parameter_of(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kBoundaryBytesMax) {
    return tl::unexpected<Error>(no_form("its Content-Type has no boundary of 1 to 70 bytes"));
  }
  const std::string delimiter = "\r\n--" + std::string(boundary);
  // The first delimiter has no line end before it.
  const std::string_view first = std::string_view(delimiter).substr(2);
  size_t at = body.starts_with(first) ? first.size() : body.find(delimiter);
  at = at == std::string_view::npos || body.starts_with(first) ? at : at + delimiter.size();
  std::map<std::string, std::string> fields;
  size_t parts = 0;
  while (true) {
    if (at == std::string_view::npos) {
      return tl::unexpected<Error>(no_form("it does not end with its boundary"));
    }
    body.remove_prefix(at);
    if (body.starts_with("--")) {
      return fields;
    }
    const size_t headers = body.find("\r\n");
    const size_t empty_line = body.find("\r\n\r\n");
    const size_t end = body.find(delimiter);
    if (empty_line == std::string_view::npos || end == std::string_view::npos || end < empty_line) {
      return tl::unexpected<Error>(no_form("a part has no headers or no end"));
    }
    if (++parts > kFormFieldsMax) {
      return tl::unexpected<Error>(no_form("it has more than 64 parts"));
    }
    const std::string_view name =
        name_of_part(body.substr(headers + 2, empty_line - std::min(empty_line, headers + 2)));
    const size_t begin = std::min(empty_line + 4, end);
    fields.insert_or_assign(std::string(name), std::string(body.substr(begin, end - begin)));
    at = end + delimiter.size();
  }
}

}  // namespace

bool is_form(std::string_view content_type) {
  const std::string_view type = media_type(content_type);
  return equals_ignoring_case(type, kUrlEncoded) || equals_ignoring_case(type, kMultipart);
}

Result<std::map<std::string, std::string>> parse_form(std::string_view content_type,
                                                      std::string_view body) {
  if (equals_ignoring_case(media_type(content_type), kMultipart)) {
    return parse_multipart(content_type, body);
  }
  return parse_query(body);
}

}  // namespace sibyl::server
