#include "server/internal/open_inference.h"

#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/json_writer.h"
#include "text/utf8.h"

namespace sibyl::server {
namespace {

using base::Json;

constexpr size_t kIdBytesMax = 1024;
constexpr std::string_view kInput = "inputs[0]";

/// Where the JSON of a body ends and its tensors begin.
Result<size_t> header_length(std::string_view body, std::optional<std::string_view> header_bytes) {
  if (!header_bytes) {
    return body.size();
  }
  size_t length = 0;
  const char* const end = header_bytes->data() + header_bytes->size();
  const auto [read, error] = std::from_chars(header_bytes->data(), end, length);
  if (error != std::errc() || read != end || length > body.size()) {
    return fail_field(Code::InvalidArgument, kInferenceHeaderLength,
                      "{} is '{}'; it must be a number of bytes, at most the body's {}",
                      kInferenceHeaderLength, header_bytes->substr(0, 40), body.size());
  }
  return length;
}

Result<std::vector<int64_t>> shape_of(const Json& input) {
  const Json& shape = base::value_at(input, "shape");
  std::vector<int64_t> out;
  bool right = shape.is_array() && shape.size() <= 8;
  for (size_t i = 0; right && i < shape.size(); ++i) {
    right = shape[i].is_number_integer();
    if (right) {
      out.push_back(shape[i].get<int64_t>());
    }
  }
  if (!right) {
    return fail_field(Code::InvalidArgument, "inputs[0].shape",
                      "'inputs[0].shape' must be a list of whole numbers, as [2] or [2, 1]");
  }
  return out;
}

/// Texts of JSON `data`, flat or a list of rows of one text each.
Result<std::vector<std::string>> json_texts(const Json& data, size_t count) {
  std::vector<std::string> texts;
  if (!data.is_array()) {
    return fail_field(Code::InvalidArgument, "inputs[0].data",
                      "'inputs[0].data' must be a list of texts, or binary_data_size must say how "
                      "many bytes of them follow the header");
  }
  if (data.size() != count) {
    return fail_field(Code::InvalidArgument, "inputs[0].data",
                      "'inputs[0].data' holds {} texts, but the shape says {}", data.size(), count);
  }
  for (const Json& item : data) {
    const bool row = item.is_array() && item.size() == 1;
    const Json& text = row ? item[0] : item;
    if (!text.is_string()) {
      const std::string place = fmt::format("inputs[0].data[{}]", texts.size());
      return fail_field(Code::InvalidArgument, place, "'{}' must be a text", place);
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

/// The bytes that `binary_data_size` says; nothing when the input has no such parameter.
Result<std::optional<std::string_view>> binary_part(const Json& input, std::string_view tensors) {
  const Json& parameters = base::value_at(input, "parameters");
  const Json& size = base::value_at(parameters, "binary_data_size");
  if (size.is_null()) {
    if (!tensors.empty()) {
      return fail_field(Code::InvalidArgument, "inputs[0].parameters.binary_data_size",
                        "{} bytes follow the JSON header, but no input has 'binary_data_size'",
                        tensors.size());
    }
    return std::optional<std::string_view>();
  }
  if (!size.is_number_integer() || std::cmp_not_equal(size.get<int64_t>(), tensors.size())) {
    return fail_field(Code::InvalidArgument, "inputs[0].parameters.binary_data_size",
                      "'binary_data_size' is {}, but {} bytes follow the JSON header",
                      base::dump_json(size), tensors.size());
  }
  return std::optional<std::string_view>(tensors);
}

Result<std::vector<std::string>> read_input(const Json& input, std::string_view tensors) {
  if (!input.is_object()) {
    return fail_field(Code::InvalidArgument, std::string(kInput), "'{}' must be an object", kInput);
  }
  const auto shape = shape_of(input);
  if (!shape) {
    return tl::unexpected<Error>(shape.error());
  }
  const std::string name = base::text_at(input, "name");
  const std::string datatype = base::text_at(input, "datatype");
  const auto count = check_text_tensor({name, datatype, *shape});
  if (!count) {
    return tl::unexpected<Error>(count.error());
  }
  const auto raw = binary_part(input, tensors);
  if (!raw) {
    return tl::unexpected<Error>(raw.error());
  }
  if (!*raw) {
    return json_texts(base::value_at(input, "data"), *count);
  }
  auto texts = read_raw_texts(**raw, *count);
  if (!texts) {
    return pass_on(texts);
  }
  if (auto checked = check_utf8(*texts); !checked) {
    return pass_on(checked);
  }
  return texts;
}

/// Whether the vectors are to come in binary form.
Result<bool> read_outputs(const Json& message) {
  bool binary = base::flag_at(base::value_at(message, "parameters"), "binary_data_output");
  const Json& outputs = base::value_at(message, "outputs");
  if (outputs.is_null()) {
    return binary;
  }
  if (!outputs.is_array()) {
    return fail_field(Code::InvalidArgument, "outputs", "'outputs' must be a list");
  }
  for (const Json& output : outputs) {
    if (auto named = check_output_name(base::text_at(output, "name")); !named) {
      return pass_on(named);
    }
    const Json& wanted = base::value_at(base::value_at(output, "parameters"), "binary_data");
    binary = wanted.is_boolean() ? wanted.get<bool>() : binary;
  }
  return binary;
}

}  // namespace

Result<size_t> check_text_tensor(const TensorHead& tensor) {
  if (tensor.name != kTextTensor) {
    return fail_field(Code::InvalidArgument, "inputs[0].name",
                      "the input is called '{}'; the model has one input, '{}'", tensor.name,
                      kTextTensor);
  }
  if (tensor.datatype != "BYTES") {
    return fail_field(Code::InvalidArgument, "inputs[0].datatype",
                      "the datatype of '{}' is '{}'; texts are BYTES", tensor.name,
                      tensor.datatype);
  }
  const size_t rank = tensor.shape.size();
  if (rank < 1 || rank > 2 || (rank == 2 && tensor.shape[1] != 1) || tensor.shape[0] < 1) {
    return fail_field(Code::InvalidArgument, "inputs[0].shape",
                      "the shape of '{}' is [{}]; it must be [n] or [n, 1], n texts", tensor.name,
                      fmt::join(tensor.shape, ", "));
  }
  const auto count = static_cast<size_t>(tensor.shape[0]);
  if (auto counted = check_text_count(count, "inputs[0]"); !counted) {
    return pass_on(counted);
  }
  return count;
}

Result<void> check_output_name(std::string_view name) {
  if (name != kVectorTensor) {
    return fail_field(Code::InvalidArgument, "outputs",
                      "an output is called '{}'; the model has one output, '{}'", name,
                      kVectorTensor);
  }
  return {};
}

Result<std::vector<std::string>> read_raw_texts(std::string_view raw, size_t count) {
  base::ByteReader reader(raw);
  std::vector<std::string> texts;
  while (texts.size() < count && reader.ok()) {
    const uint32_t bytes = reader.u32();
    const std::string_view text = reader.take(bytes);
    if (reader.ok()) {
      texts.emplace_back(text);
    }
  }
  if (!reader.ok() || reader.left() != 0) {
    return fail_field(Code::InvalidArgument, std::string(kInput),
                      "the {} bytes of '{}' are not {} texts, each with four bytes of length "
                      "(little-endian) before it",
                      raw.size(), kTextTensor, count);
  }
  return texts;
}

Result<void> check_utf8(const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!text::is_utf8(texts[i])) {
      return fail_field(Code::InvalidArgument, std::string(kInput), "text {} of '{}' is no UTF-8",
                        i, kTextTensor);
    }
  }
  return {};
}

Result<InferRequest> parse_infer_request(std::string_view body,
                                         std::optional<std::string_view> header_bytes) {
  const auto length = header_length(body, header_bytes);
  if (!length) {
    return tl::unexpected<Error>(length.error());
  }
  const auto message = base::parse_json(body.substr(0, *length), "the request");
  if (!message) {
    return tl::unexpected<Error>(message.error());
  }
  const Json& inputs = base::value_at(*message, "inputs");
  if (!inputs.is_array() || inputs.size() != 1) {
    return fail_field(Code::InvalidArgument, "inputs",
                      "'inputs' must be a list of one tensor, '{}'", kTextTensor);
  }
  InferRequest request;
  request.id = base::text_at(*message, "id");
  if (request.id.size() > kIdBytesMax) {
    return fail_field(Code::InvalidArgument, "id", "'id' is longer than {} bytes", kIdBytesMax);
  }
  const auto binary = read_outputs(*message);
  if (!binary) {
    return tl::unexpected<Error>(binary.error());
  }
  request.binary_output = *binary;
  request.kind = text_kind_of(base::text_at(base::value_at(*message, "parameters"), "kind"))
                     .value_or(request.kind);
  auto texts = read_input(inputs[0], body.substr(*length));
  if (!texts) {
    return pass_on(texts);
  }
  request.texts = std::move(*texts);
  return request;
}

Response infer_reply(const InferRequest& request, const Prediction& prediction,
                     std::string_view model) {
  Response response;
  base::JsonWriter json(response.body);
  json.begin_object().key("model_name").text(model);
  json.key("model_version").text(prediction.version);
  if (!request.id.empty()) {
    json.key("id").text(request.id);
  }
  json.key("outputs").begin_array().begin_object().key("name").text(kVectorTensor);
  json.key("shape").begin_array().integer(static_cast<int64_t>(prediction.texts()));
  json.integer(static_cast<int64_t>(prediction.dimension)).end_array();
  json.key("datatype").text("FP32");
  std::string bytes;
  if (request.binary_output) {
    bytes = prediction.bytes();
    json.key("parameters").begin_object().key("binary_data_size");
    json.integer(static_cast<int64_t>(bytes.size())).end_object();
  } else {
    json.key("data").floats(prediction.vectors);
  }
  json.end_object().end_array().end_object();
  if (request.binary_output) {
    response.content_type = "application/octet-stream";
    response.headers[kInferenceHeaderLength] = std::to_string(response.body.size());
    response.body += bytes;
  }
  return response;
}

Response open_inference_error(int status, const Error& error) {
  Response response;
  response.status = status;
  base::JsonWriter(response.body).begin_object().key("error").text(error.message).end_object();
  return response;
}

}  // namespace sibyl::server
