#include "server/internal/embedding_request.h"

#include <utility>

#include "base/json.h"
#include "server/internal/prediction.h"

namespace sibyl::server {
namespace {

Result<std::vector<std::string>> input_of(const base::Json* input) {
  if (input == nullptr) {
    return fail_field(Code::InvalidArgument, "input",
                      "'input' is missing: a text or a list of them");
  }
  if (input->is_string()) {
    return std::vector<std::string>{input->get<std::string>()};
  }
  if (!input->is_array()) {
    return fail_field(Code::InvalidArgument, "input", "'input' must be a text or a list of texts");
  }
  if (auto counted = check_text_count(input->size(), "input"); !counted) {
    return pass_on(counted);
  }
  std::vector<std::string> texts;
  for (const base::Json& item : *input) {
    if (item.is_number() || item.is_array()) {
      return fail_field(Code::InvalidArgument, "input",
                        "'input' holds token numbers, whose meaning differs between models; send "
                        "texts");
    }
    if (!item.is_string()) {
      return fail_field(Code::InvalidArgument, fmt::format("input[{}]", texts.size()),
                        "every item of 'input' must be a text");
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace

Result<EmbeddingRequest> parse_embedding_request(std::string_view body) {
  static constexpr int64_t kDimensionsMax = 32768;
  const auto json = base::parse_json(body, "the body");
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  base::JsonFields fields(*json);
  EmbeddingRequest request;
  request.model = fields.required_text("model");
  const base::Json* input = fields.value("input");
  const std::string format = fields.text("encoding_format", "float");
  request.dimensions = static_cast<size_t>(fields.integer("dimensions", 0, 1, kDimensionsMax));
  fields.text("user");  // OpenAI's name of the end user: nothing to do with it here
  if (auto finished = fields.finish(); !finished) {
    return pass_on(finished);
  }
  if (format != "float" && format != "base64") {
    return fail_field(Code::InvalidArgument, "encoding_format",
                      "'encoding_format' is '{}'; it must be float or base64", format);
  }
  request.as_base64 = format == "base64";
  auto texts = input_of(input);
  if (!texts) {
    return pass_on(texts);
  }
  request.input = std::move(*texts);
  return request;
}

}  // namespace sibyl::server
