#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/json_writer.h"
#include "encoder/internal/remote_protocol.h"
#include "encoder/internal/reply_checks.h"

namespace sibyl::encoder {
namespace {

using base::Json;

constexpr std::string_view kOutput = "vector";

/// The output called `vector`, or the only one.
const Json* output_of(const Json& outputs) {
  if (!outputs.is_array()) {
    return nullptr;
  }
  for (const Json& output : outputs) {
    if (base::text_at(output, "name") == kOutput) {
      return &output;
    }
  }
  return outputs.size() == 1 && outputs.front().is_object() ? &outputs.front() : nullptr;
}

/// Bytes of one output's raw contents; empty when its numbers stand in the JSON.
Result<std::optional<uint64_t>> raw_size(const Json& output) {
  const Json& size = base::value_at(base::value_at(output, "parameters"), "binary_data_size");
  if (size.is_null()) {
    return std::optional<uint64_t>();
  }
  const auto bytes = count_from(size);
  return bytes ? Result<std::optional<uint64_t>>(bytes)
               : bad_reply("binary_data_size is no count of bytes");
}

/// Where the raw contents of `wanted` begin behind the JSON: outputs stand there in their order.
Result<uint64_t> raw_offset(const Json& outputs, const Json* wanted, uint64_t available) {
  uint64_t offset = 0;
  for (const Json& output : outputs) {
    if (&output == wanted) {
      return offset;
    }
    const auto size = raw_size(output);
    if (!size) {
      return tl::unexpected<Error>(size.error());
    }
    const uint64_t bytes = size->value_or(0);
    if (bytes > available - offset) {
      return bad_reply("its raw contents are cut off");
    }
    offset += bytes;
  }
  return offset;
}

Result<void> read_raw(std::string_view bytes, bool wide, RemoteVectors& out) {
  base::ByteReader reader(bytes);
  const size_t numbers = bytes.size() / (wide ? sizeof(double) : sizeof(float));
  out.vectors.reserve(numbers);
  for (size_t i = 0; i < numbers; ++i) {
    const auto value = wide ? std::bit_cast<double>(reader.u64()) : double{reader.f32()};
    if (!(std::abs(value) <= double{std::numeric_limits<float>::max()})) {
      return bad_reply("a vector holds a number that is not finite as float32");
    }
    out.vectors.push_back(static_cast<float>(value));
  }
  return {};
}

/// `data` of an output: flat, or a list a text.
Result<void> read_numbers(const Json& data, const ReplyLimits& limits, RemoteVectors& out) {
  if (!data.is_array()) {
    return bad_reply("the output has no data");
  }
  const size_t wanted = limits.texts * out.dimension;
  for (const Json& item : data) {
    const bool nested = item.is_array();
    if (nested && item.size() != out.dimension) {
      return bad_reply("its vectors differ in length");
    }
    for (size_t i = 0; i < (nested ? item.size() : 1); ++i) {
      if (auto added = append_number(nested ? item[i] : item, out.vectors); !added) {
        return added;
      }
      if (out.vectors.size() > wanted) {
        return bad_reply("the output has more numbers than its shape says");
      }
    }
  }
  return out.vectors.size() == wanted ? Result<void>()
                                      : bad_reply("the output has {} numbers; its shape says {}",
                                                  out.vectors.size(), wanted);
}

/// Checks datatype and shape and notes the dimension; whether numbers are of 64 bits.
Result<bool> read_shape(const Json& output, const ReplyLimits& limits, RemoteVectors& out) {
  const std::string datatype = base::text_at(output, "datatype");
  if (datatype != "FP32" && datatype != "FP64") {
    return bad_reply("the output's datatype is not FP32 or FP64");
  }
  const auto shape = shape_from(base::value_at(output, "shape"));
  if (!shape) {
    return bad_reply("the output's shape is not [texts, dimension]");
  }
  if (auto checked = check_shape(shape->first, shape->second, limits); !checked) {
    return pass_on(checked);
  }
  out.dimension = shape->second;
  return datatype == "FP64";
}

/// The JSON's length of a body whose header says it, checked.
Result<size_t> json_length(std::string_view body, std::string_view header_length) {
  if (header_length.empty()) {
    return body.size();
  }
  size_t length = 0;
  const std::string digits(header_length);
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, length);
  if (error != std::errc() || end != last || length > body.size()) {
    return bad_reply("Inference-Header-Content-Length is no length of its JSON");
  }
  return length;
}

Result<void> read_output(const Json& outputs, std::string_view raw, const ReplyLimits& limits,
                         RemoteVectors& out) {
  const Json* const output = output_of(outputs);
  if (output == nullptr) {
    return bad_reply("it has no output '{}'", kOutput);
  }
  const auto wide = read_shape(*output, limits, out);
  if (!wide) {
    return tl::unexpected<Error>(wide.error());
  }
  const auto raw_bytes = raw_size(*output);
  if (!raw_bytes) {
    return tl::unexpected<Error>(raw_bytes.error());
  }
  const std::optional<uint64_t> bytes = *raw_bytes;
  if (!bytes) {
    return read_numbers(base::value_at(*output, "data"), limits, out);
  }
  const auto offset = raw_offset(outputs, output, raw.size());
  if (!offset) {
    return tl::unexpected<Error>(offset.error());
  }
  const uint64_t wanted = limits.texts * out.dimension * (*wide ? sizeof(double) : sizeof(float));
  if (*bytes != wanted || raw.size() - *offset < wanted) {
    return bad_reply("its raw contents have {} of {} bytes", std::min(*bytes, raw.size() - *offset),
                     wanted);
  }
  return read_raw(raw.substr(*offset, wanted), *wide, out);
}

}  // namespace

net::HttpRequest make_inference_request(const RemoteAddress& address,
                                        std::span<const std::string_view> texts, TextKind kind,
                                        bool binary) {
  net::HttpRequest request;
  request.method = "POST";
  request.path = address.path;
  base::JsonWriter json(request.body);
  json.begin_object().key("parameters").begin_object();
  json.key("kind").text(kind == TextKind::Question ? "question" : "document").end_object();
  json.key("inputs").begin_array().begin_object();
  json.key("name").text("text").key("datatype").text("BYTES");
  json.key("shape").begin_array().integer(static_cast<int64_t>(texts.size())).end_array();
  json.key("data").begin_array();
  for (const std::string_view text : texts) {
    json.text(text);
  }
  json.end_array().end_object().end_array();
  if (binary) {
    json.key("outputs").begin_array().begin_object().key("name").text(kOutput);
    json.key("parameters").begin_object().key("binary_data").boolean(true).end_object();
    json.end_object().end_array();
  }
  json.end_object();
  return request;
}

Result<RemoteVectors> parse_inference_reply(std::string_view body, std::string_view header_length,
                                            const ReplyLimits& limits) {
  const auto length = json_length(body, header_length);
  if (!length) {
    return tl::unexpected<Error>(length.error());
  }
  const auto json = base::parse_json(body.substr(0, *length));
  if (!json) {
    return bad_reply("{}", json.error().message);
  }
  auto version = version_from(base::value_at(*json, "model_version"), "model_version");
  if (!version) {
    return pass_on(version);
  }
  RemoteVectors out;
  out.version = std::move(*version);
  out.model = base::text_at(*json, "model_name");
  if (auto read = read_output(base::value_at(*json, "outputs"), body.substr(*length), limits, out);
      !read) {
    return pass_on(read);
  }
  return out;
}

}  // namespace sibyl::encoder
