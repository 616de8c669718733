#include "cli/internal/config_file.h"

#include "base/file_system.h"
#include "base/json.h"
#include "base/yaml.h"

namespace sibyl::cli {

Result<void> apply_config_file(Arguments& arguments) {
  if (arguments.config.empty()) {
    return {};
  }
  const auto text = base::read_file(arguments.config, 1 << 20);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  base::YamlLines lines;
  const auto json = base::parse_yaml(*text, &lines);
  if (!json) {
    return fail(Code::InvalidConfig, "{}: {}", arguments.config, json.error().message);
  }
  if (json->is_null()) {
    return {};
  }
  const Arguments defaults;
  base::JsonFields fields(*json, {}, Code::InvalidConfig);
  const auto take = [&](const char* key, std::string& into, const std::string& otherwise) {
    const std::string value = fields.text(key);
    if (!value.empty() && into == otherwise) {
      into = value;
    }
  };
  take("data", arguments.data, {});
  take("http", arguments.http, defaults.http);
  take("grpc", arguments.grpc, defaults.grpc);
  take("api_keys", arguments.api_keys, {});
  take("tls_cert", arguments.tls_certificate, {});
  take("tls_key", arguments.tls_key, {});
  take("web_root", arguments.web_root, {});
  for (std::string& host : fields.texts("allow_hosts")) {
    arguments.allowed_hosts.push_back(std::move(host));
  }
  if (auto done = fields.finish(); !done) {
    const auto line = lines.find(done.error().field);
    return fail(Code::InvalidConfig, "{}{}: {}", arguments.config,
                line == lines.end() ? "" : fmt::format(" line {}", line->second),
                done.error().message);
  }
  return {};
}

}  // namespace sibyl::cli
