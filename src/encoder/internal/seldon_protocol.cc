#include "base/json.h"
#include "base/json_access.h"
#include "base/json_writer.h"
#include "encoder/internal/remote_protocol.h"
#include "encoder/internal/reply_checks.h"

namespace sibyl::encoder {
namespace {

using base::Json;

/// A row's vector: `[0.1, …]` or `[[0.1, …]]`; nullptr when it is neither.
const Json* vector_of(const Json& row) {
  if (!row.is_array() || row.empty()) {
    return nullptr;
  }
  const bool nested = row.size() == 1 && row.front().is_array();
  return nested ? &row.front() : &row;
}

Result<void> read_rows(const Json& rows, const ReplyLimits& limits, RemoteVectors& out) {
  const Json* first = rows.empty() ? nullptr : vector_of(rows.front());
  if (auto right = check_shape(rows.size(), first == nullptr ? 0 : first->size(), limits); !right) {
    return right;
  }
  out.dimension = first->size();
  out.vectors.reserve(rows.size() * out.dimension);
  for (const Json& row : rows) {
    const Json* const vector = vector_of(row);
    if (vector == nullptr || vector->size() != out.dimension) {
      return bad_reply("its vectors differ in length");
    }
    for (const Json& value : *vector) {
      if (auto added = append_number(value, out.vectors); !added) {
        return added;
      }
    }
  }
  return {};
}

Result<void> read_tensor(const Json& tensor, const ReplyLimits& limits, RemoteVectors& out) {
  const auto shape = shape_from(base::value_at(tensor, "shape"));
  const Json& values = base::value_at(tensor, "values");
  if (!shape || !values.is_array()) {
    return bad_reply("data.tensor has no shape of two numbers or no values");
  }
  if (auto checked = check_shape(shape->first, shape->second, limits); !checked) {
    return checked;
  }
  out.dimension = shape->second;
  if (values.size() != limits.texts * out.dimension) {
    return bad_reply("data.tensor has {} values; its shape says {}", values.size(),
                     limits.texts * out.dimension);
  }
  out.vectors.reserve(values.size());
  for (const Json& value : values) {
    if (auto added = append_number(value, out.vectors); !added) {
      return added;
    }
  }
  return {};
}

}  // namespace

net::HttpRequest make_seldon_request(const RemoteAddress& address,
                                     std::span<const std::string_view> texts, TextKind kind) {
  net::HttpRequest request;
  request.method = "POST";
  request.path = address.path;
  base::JsonWriter json(request.body);
  json.begin_object().key("data").begin_object();
  json.key("names").begin_array().text("text").end_array();
  json.key("ndarray").begin_array();
  for (const std::string_view text : texts) {
    json.begin_array().text(text).end_array();
  }
  json.end_array().end_object();
  json.key("meta").begin_object().key("tags").begin_object();
  json.key("kind").text(kind == TextKind::Question ? "question" : "document");
  json.end_object().end_object().end_object();
  return request;
}

Result<RemoteVectors> parse_seldon_reply(std::string_view body, const ReplyLimits& limits) {
  const auto json = base::parse_json(body);
  if (!json) {
    return bad_reply("{}", json.error().message);
  }
  const Json& tags = base::value_at(base::value_at(*json, "meta"), "tags");
  auto version = version_from(base::value_at(tags, "version"), "meta.tags.version");
  if (!version) {
    return pass_on(version);
  }
  RemoteVectors out;
  out.version = std::move(*version);
  out.model = base::text_at(tags, "model");
  const Json& data = base::value_at(*json, "data");
  const Json& rows = base::value_at(data, "ndarray");
  const Json& tensor = base::value_at(data, "tensor");
  Result<void> read = rows.is_array() ? read_rows(rows, limits, out)
                      : tensor.is_object()
                          ? read_tensor(tensor, limits, out)
                          : Result<void>(bad_reply("it has neither data.ndarray nor data.tensor"));
  if (!read) {
    return pass_on(read);
  }
  return out;
}

}  // namespace sibyl::encoder
