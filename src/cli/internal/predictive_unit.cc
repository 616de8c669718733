#include "cli/internal/predictive_unit.h"

#include <charconv>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/log.h"

namespace sibyl::cli {
namespace {

using Variables = std::function<std::string(const char*)>;

constexpr const char* kParameters = "PREDICTIVE_UNIT_PARAMETERS";
constexpr size_t kThreadsMax = 1024;

Result<uint64_t> whole_number(const std::string& text, const char* name, uint64_t highest) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > highest) {
    return fail_field(Code::InvalidConfig, name, "{} is '{}'; it must be a number from 1 to {}",
                      name, text, highest);
  }
  return value;
}

Result<void> read_port(const Variables& variable, const char* name, uint16_t& port) {
  const std::string text = variable(name);
  if (text.empty()) {
    return {};
  }
  auto value = whole_number(text, name, 65535);
  if (!value) {
    return pass_on(value);
  }
  port = static_cast<uint16_t>(*value);
  return {};
}

/// [{"name", "value", "type"}], every value a text.
Result<void> read_parameters(const std::string& text, PredictiveUnit& unit) {
  if (text.empty()) {
    return {};
  }
  const auto list = base::parse_json(text, kParameters);
  if (!list || !list->is_array()) {
    return fail_field(Code::InvalidConfig, kParameters,
                      "{} must be a JSON list of {{\"name\", \"value\", \"type\"}}", kParameters);
  }
  for (const base::Json& parameter : *list) {
    const std::string name = base::text_at(parameter, "name");
    const std::string value = base::shown_at(parameter, "value");
    if (name == "threads") {
      auto threads = whole_number(value, "the parameter 'threads'", kThreadsMax);
      if (!threads) {
        return pass_on(threads);
      }
      unit.threads = static_cast<size_t>(*threads);
    } else if (name == "model_uri") {
      unit.model_uri = value;
    } else {
      base::log_warning("cli", "the parameter '{}' means nothing here; threads and model_uri do",
                        name);
    }
  }
  return {};
}

}  // namespace

Result<PredictiveUnit> read_predictive_unit(const Variables& variable) {
  PredictiveUnit unit;
  for (const auto& [name, port] :
       {std::pair("PREDICTIVE_UNIT_HTTP_SERVICE_PORT", &unit.http_port),
        std::pair("PREDICTIVE_UNIT_GRPC_SERVICE_PORT", &unit.grpc_port),
        std::pair("PREDICTIVE_UNIT_METRICS_SERVICE_PORT", &unit.metrics_port)}) {
    if (auto read = read_port(variable, name, *port); !read) {
      return pass_on(read);
    }
  }
  if (!unit.given()) {  // before version 1.5 one port was all there was
    if (auto read = read_port(variable, "PREDICTIVE_UNIT_SERVICE_PORT", unit.http_port); !read) {
      return pass_on(read);
    }
  }
  unit.metrics_path = variable("PREDICTIVE_UNIT_METRICS_ENDPOINT");
  if (!unit.metrics_path.empty() && !unit.metrics_path.starts_with('/')) {
    unit.metrics_path = "/" + unit.metrics_path;
  }
  unit.id = variable("PREDICTIVE_UNIT_ID");
  if (auto read = read_parameters(variable(kParameters), unit); !read) {
    return pass_on(read);
  }
  return unit;
}

}  // namespace sibyl::cli
