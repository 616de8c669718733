#include <utility>

#include "server/internal/seldon_service.h"

namespace sibyl::server {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Value;
using seldon::protos::DefaultData;
using seldon::protos::SeldonMessage;

Result<void> read_rows(const ListValue& rows, SeldonRequest& request) {
  static const std::string kRows = "data.ndarray";
  if (auto counted = check_text_count(static_cast<size_t>(rows.values_size()), kRows); !counted) {
    return counted;
  }
  for (const Value& row : rows.values()) {
    const bool list = row.kind_case() == Value::kListValue && row.list_value().values_size() == 1;
    const Value& text = list ? row.list_value().values(0) : row;
    if (text.kind_case() != Value::kStringValue) {
      const std::string place = fmt::format("{}[{}]", kRows, request.texts.size());
      return fail_field(Code::InvalidArgument, place, "'{}' must be one text: [\"one\"] or \"one\"",
                        place);
    }
    request.texts.push_back(text.string_value());
  }
  return {};
}

Result<void> read_json_data(const Value& data, SeldonRequest& request) {
  const auto& fields = data.struct_value().fields();
  const auto texts = fields.find("texts");
  if (texts == fields.end() || texts->second.kind_case() != Value::kListValue) {
    return fail_field(Code::InvalidArgument, "jsonData.texts",
                      "'jsonData' must be an object with a list of 'texts'");
  }
  const ListValue& list = texts->second.list_value();
  if (auto counted = check_text_count(static_cast<size_t>(list.values_size()), "jsonData.texts");
      !counted) {
    return counted;
  }
  for (const Value& text : list.values()) {
    if (text.kind_case() != Value::kStringValue) {
      const std::string place = fmt::format("jsonData.texts[{}]", request.texts.size());
      return fail_field(Code::InvalidArgument, place, "'{}' must be a text", place);
    }
    request.texts.push_back(text.string_value());
  }
  return {};
}

void write_vector(std::span<const float> vector, ListValue& list) {
  list.mutable_values()->Reserve(static_cast<int>(vector.size()));
  for (const float value : vector) {
    list.add_values()->set_number_value(static_cast<double>(value));
  }
}

Result<void> read_contents(const SeldonMessage& message, SeldonRequest& request) {
  switch (message.data_oneof_case()) {
    case SeldonMessage::kData:
      request.form = SeldonForm::Rows;
      if (message.data().data_oneof_case() == DefaultData::kNdarray) {
        return read_rows(message.data().ndarray(), request);
      }
      return tl::unexpected<Error>(refused_seldon_data(
          message.data().data_oneof_case() == DefaultData::kTensor ? "data.tensor" : "data"));
    case SeldonMessage::kStrData:
      request.form = SeldonForm::Text;
      request.texts.push_back(message.strdata());
      return {};
    case SeldonMessage::kJsonData:
      request.form = SeldonForm::Json;
      return read_json_data(message.jsondata(), request);
    case SeldonMessage::kBinData:
      return tl::unexpected<Error>(refused_seldon_data("binData"));
    case SeldonMessage::DATA_ONEOF_NOT_SET:
      break;
  }
  return fail(Code::InvalidArgument,
              "a message must hold exactly one of 'data' with 'ndarray', 'strData' and 'jsonData'");
}

}  // namespace

Result<SeldonRequest> read_seldon_message(const SeldonMessage& message) {
  SeldonRequest request;
  request.puid = message.meta().puid();
  if (request.puid.size() > kPuidBytesMax) {
    return fail_field(Code::InvalidArgument, "meta.puid", "'meta.puid' is longer than {} bytes",
                      kPuidBytesMax);
  }
  const auto& tags = message.meta().tags();
  if (const auto kind = tags.find("kind"); kind != tags.end()) {
    request.kind = text_kind_of(kind->second.string_value()).value_or(request.kind);
  }
  if (auto read = read_contents(message, request); !read) {
    return pass_on(read);
  }
  return request;
}

void write_seldon_message(const SeldonRequest& request, const Prediction& made,
                          SeldonMessage& reply) {
  auto& meta = *reply.mutable_meta();
  meta.set_puid(request.puid);
  (*meta.mutable_tags())["model"].set_string_value(made.model);
  (*meta.mutable_tags())["version"].set_string_value(made.version);
  if (request.form == SeldonForm::Json) {
    auto& fields = *reply.mutable_jsondata()->mutable_struct_value()->mutable_fields();
    ListValue& vectors = *fields["vectors"].mutable_list_value();
    for (size_t i = 0; i < made.texts(); ++i) {
      write_vector(made.vector(i), *vectors.add_values()->mutable_list_value());
    }
    return;
  }
  reply.mutable_data()->add_names("vector");
  ListValue& rows = *reply.mutable_data()->mutable_ndarray();
  for (size_t i = 0; i < made.texts(); ++i) {
    ListValue& row = *rows.add_values()->mutable_list_value();
    write_vector(made.vector(i), *row.add_values()->mutable_list_value());
  }
}

}  // namespace sibyl::server
