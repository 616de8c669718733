#include "server/internal/seldon_message.h"

#include <array>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/json_writer.h"
#include "server/internal/form_body.h"

namespace sibyl::server {
namespace {

using base::Json;

constexpr std::string_view kRows = "data.ndarray";
constexpr std::array<std::string_view, 5> kContents = {"data", "binData", "strData", "jsonData",
                                                       "customData"};
constexpr std::array<std::string_view, 3> kArrays = {"tensor", "ndarray", "tftensor"};

/// The one key of `names` that the object has; empty when it has none of them or several.
template <size_t Count>
std::string_view only_key(const Json& object, const std::array<std::string_view, Count>& names) {
  std::string_view only;
  for (const std::string_view name : names) {
    const auto found = object.find(std::string(name));
    if (found == object.end() || found->is_null()) {
      continue;
    }
    if (!only.empty()) {
      return {};
    }
    only = name;
  }
  return only;
}

Result<std::string> text_of_row(const Json& row, size_t index) {
  const std::string place = fmt::format("{}[{}]", kRows, index);
  if (row.is_string()) {
    return row.get<std::string>();
  }
  if (!row.is_array() || row.size() != 1 || !row[0].is_string()) {
    return fail_field(Code::InvalidArgument, place,
                      "'{}' must be one text: [\"one\"] or \"one\", not {}", place,
                      row.is_array() && row.size() != 1 ? fmt::format("{} columns", row.size())
                                                        : "something else");
  }
  return row[0].get<std::string>();
}

Result<void> read_rows(const Json& data, SeldonRequest& request) {
  if (!data.is_object()) {
    return fail_field(Code::InvalidArgument, "data", "'data' must be an object with 'ndarray'");
  }
  const std::string_view kind = only_key(data, kArrays);
  if (kind.empty()) {
    return fail_field(Code::InvalidArgument, "data",
                      "'data' must hold 'ndarray', and no other kind of array beside it");
  }
  if (kind != "ndarray") {
    return tl::unexpected<Error>(refused_seldon_data(fmt::format("data.{}", kind)));
  }
  const Json& rows = data["ndarray"];
  if (!rows.is_array()) {
    return fail_field(Code::InvalidArgument, std::string(kRows), "'{}' must be a list of rows",
                      kRows);
  }
  if (auto counted = check_text_count(rows.size(), std::string(kRows)); !counted) {
    return counted;
  }
  for (const Json& row : rows) {
    auto text = text_of_row(row, request.texts.size());
    if (!text) {
      return pass_on(text);
    }
    request.texts.push_back(std::move(*text));
  }
  return {};
}

Result<void> read_json_data(const Json& data, SeldonRequest& request) {
  const Json& texts = base::value_at(data, "texts");
  if (!texts.is_array()) {
    return fail_field(Code::InvalidArgument, "jsonData.texts",
                      "'jsonData' must be an object with a list of 'texts'");
  }
  if (auto counted = check_text_count(texts.size(), "jsonData.texts"); !counted) {
    return counted;
  }
  for (const Json& text : texts) {
    if (!text.is_string()) {
      const std::string place = fmt::format("jsonData.texts[{}]", request.texts.size());
      return fail_field(Code::InvalidArgument, place, "'{}' must be a text", place);
    }
    request.texts.push_back(text.get<std::string>());
  }
  return {};
}

Result<void> read_contents(const Json& message, SeldonRequest& request) {
  const std::string_view kind = only_key(message, kContents);
  if (kind == "data") {
    request.form = SeldonForm::Rows;
    return read_rows(message["data"], request);
  }
  if (kind == "jsonData") {
    request.form = SeldonForm::Json;
    return read_json_data(message["jsonData"], request);
  }
  if (kind == "strData") {
    if (!message["strData"].is_string()) {
      return fail_field(Code::InvalidArgument, "strData", "'strData' must be a text");
    }
    request.form = SeldonForm::Text;
    request.texts.push_back(message["strData"].get<std::string>());
    return {};
  }
  if (!kind.empty()) {
    return tl::unexpected<Error>(refused_seldon_data(kind));
  }
  return fail(Code::InvalidArgument,
              "a message must hold exactly one of 'data', 'strData' and 'jsonData', as "
              "{{\"data\": {{\"names\": [\"text\"], \"ndarray\": [[\"one\"], [\"two\"]]}}}}");
}

/// `json=` holds the message; else the fields are those of the message, each its JSON.
Result<std::string> json_of_fields(const std::map<std::string, std::string>& fields) {
  const auto whole = fields.find("json");
  if (whole != fields.end()) {
    return whole->second;
  }
  std::string out;
  base::JsonWriter json(out);
  json.begin_object();
  for (const auto& [name, value] : fields) {
    if (name == "strData") {
      json.key(name).text(value);
      continue;
    }
    if (auto parsed = base::parse_json(value, fmt::format("the form's field '{}'", name));
        !parsed) {
      return pass_on(parsed);
    }
    json.key(name).raw(value);
  }
  json.end_object();
  return out;
}

void write_rows(base::JsonWriter& json, const Prediction& prediction) {
  json.key("data").begin_object().key("names").begin_array().text("vector").end_array();
  json.key("ndarray").begin_array();
  for (size_t i = 0; i < prediction.texts(); ++i) {
    json.begin_array().floats(prediction.vector(i)).end_array();
  }
  json.end_array().end_object();
}

void write_json_data(base::JsonWriter& json, const Prediction& prediction) {
  json.key("jsonData").begin_object().key("vectors").begin_array();
  for (size_t i = 0; i < prediction.texts(); ++i) {
    json.floats(prediction.vector(i));
  }
  json.end_array().end_object();
}

}  // namespace

Error refused_seldon_data(std::string_view kind) {
  return {Code::InvalidArgument,
          fmt::format("'{}' holds no text; send the texts as rows of 'data.ndarray', or one as "
                      "'strData'",
                      kind),
          std::string(kind)};
}

Result<SeldonRequest> parse_seldon_request(std::string_view json) {
  const auto message = base::parse_json(json, "the message");
  if (!message) {
    return tl::unexpected<Error>(message.error());
  }
  if (!message->is_object()) {
    return fail(Code::InvalidArgument, "the message must be a JSON object");
  }
  SeldonRequest request;
  request.puid = base::text_at(base::value_at(*message, "meta"), "puid");
  if (request.puid.size() > kPuidBytesMax) {
    return fail_field(Code::InvalidArgument, "meta.puid", "'meta.puid' is longer than {} bytes",
                      kPuidBytesMax);
  }
  const Json& tags = base::value_at(base::value_at(*message, "meta"), "tags");
  request.kind = text_kind_of(base::text_at(tags, "kind")).value_or(request.kind);
  if (auto read = read_contents(*message, request); !read) {
    return pass_on(read);
  }
  return request;
}

Result<std::string> seldon_json_of(const Request& request) {
  const auto type = request.headers.find("content-type");
  const std::string content_type = type == request.headers.end() ? "" : type->second;
  if (is_form(content_type) && !request.body.empty()) {
    auto fields = parse_form(content_type, request.body);
    if (!fields) {
      return pass_on(fields);
    }
    return json_of_fields(*fields);
  }
  const auto query = request.query.find("json");
  return query == request.query.end() || !request.body.empty() ? request.body : query->second;
}

std::string seldon_reply(const SeldonRequest& request, const Prediction& prediction) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object();
  if (request.form == SeldonForm::Json) {
    write_json_data(json, prediction);
  } else {
    write_rows(json, prediction);
  }
  json.key("meta").begin_object();
  if (!request.puid.empty()) {
    json.key("puid").text(request.puid);
  }
  json.key("tags").begin_object().key("model").text(prediction.model);
  json.key("version").text(prediction.version).end_object().end_object().end_object();
  return out;
}

std::string_view seldon_reason(int status) {
  return status < 500 ? "MICROSERVICE_BAD_DATA" : "MICROSERVICE_INTERNAL_ERROR";
}

Response seldon_error(int status, const Error& error) {
  Response response;
  response.status = status;
  base::JsonWriter json(response.body);
  json.begin_object().key("status").begin_object().key("status").integer(1);
  json.key("info").text(error.message).key("code").integer(-1);
  json.key("reason").text(seldon_reason(status)).end_object().end_object();
  return response;
}

}  // namespace sibyl::server
