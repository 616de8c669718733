#include "model/provenance.h"

#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "model/internal/config_fields.h"
#include "model/internal/model_files.h"
#include "net/sha256.h"

namespace sibyl::model {

namespace {

constexpr int kFormat = 1;
constexpr size_t kDigestLength = 64;

/// A free-form part as JSON text, "null" when it is not there.
std::string part_text(const base::Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? "null" : base::dump_json(*found);
}

Result<base::Json> part_json(const std::string& text, const std::string& name) {
  if (text.empty()) {
    return base::Json();
  }
  return base::parse_json(text, name);
}

Result<std::map<std::string, std::string>> text_map(const base::Json& object, std::string_view key,
                                                    const std::string& name) {
  std::map<std::string, std::string> out;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return out;
  }
  if (!found->is_object()) {
    return fail_field(Code::InvalidData, std::string(key), "{}: {} must be an object of texts",
                      name, key);
  }
  for (const auto& [item, value] : found->items()) {
    if (!value.is_string()) {
      return fail_field(Code::InvalidData, std::string(key), "{}: {}: '{}' must be a text", name,
                        key, item);
    }
    out.emplace(item, value.get<std::string>());
  }
  return out;
}

}  // namespace

Result<Provenance> parse_provenance(std::string_view json, const std::string& name) {
  auto parsed = parse_config(json, name);
  if (!parsed) {
    return pass_on(parsed);
  }
  Provenance out;
  ConfigFields fields(*parsed, name);
  const uint64_t format = fields.required_size("format", 1, 1'000'000);
  out.name = fields.text("name", "");
  out.version = fields.text("version", "1");
  out.base = fields.text("base", "");
  out.created = fields.text("created", "");
  out.integer_scheme = fields.text("integer_scheme", "none");
  out.dimension = fields.size("dimension", 0, 0, 1 << 24);
  auto checked = fields.finish();
  if (checked && format != kFormat) {
    checked = fail_field(Code::InvalidData, "format",
                         "{}: format {} is newer than this program, which reads format {}", name,
                         format, kFormat);
  }
  if (!checked) {
    return pass_on(checked);
  }
  out.trained_on = part_text(*parsed, "trained_on");
  out.parameters = part_text(*parsed, "parameters");
  out.metrics = part_text(*parsed, "metrics");
  auto pipelines = text_map(*parsed, "pipelines", name);
  if (!pipelines) {
    return pass_on(pipelines);
  }
  out.pipelines = std::move(*pipelines);
  auto checksums = text_map(*parsed, "checksums", name);
  if (!checksums) {
    return pass_on(checksums);
  }
  for (const auto& [path, digest] : *checksums) {
    if (!is_inner_path(path) || digest.size() != kDigestLength) {
      return fail_field(Code::InvalidData, "checksums",
                        "{}: checksums: '{}' is no path inside the model, or its value is no "
                        "SHA-256 in hexadecimal",
                        name, path);
    }
  }
  out.checksums = std::move(*checksums);
  return out;
}

Result<Provenance> read_provenance(const std::string& model_path) {
  const std::string path = base::join_path(model_path, kProvenanceFile);
  if (!base::real_file_system().exists(path)) {
    Provenance none;
    none.trained_on = none.parameters = none.metrics = "null";
    return none;
  }
  auto text = base::read_file(path, kConfigBytesMax);
  if (!text) {
    return pass_on(text);
  }
  return parse_provenance(*text, path);
}

Result<void> write_provenance(const std::string& model_path, Provenance provenance) {
  auto names = list_model_files(model_path);
  if (!names) {
    return pass_on(names);
  }
  base::Json checksums = base::Json::object();
  for (const ModelFile& file : *names) {
    if (file.path != kProvenanceFile) {
      auto digest = net::sha256_file(base::join_path(model_path, file.path));
      if (!digest) {
        return pass_on(digest);
      }
      checksums[file.path] = *digest;
    }
  }
  base::Json out = {{"format", kFormat},
                    {"name", provenance.name},
                    {"version", provenance.version},
                    {"base", provenance.base},
                    {"created", provenance.created},
                    {"dimension", provenance.dimension},
                    {"integer_scheme", provenance.integer_scheme},
                    {"pipelines", provenance.pipelines}};
  for (const auto& [key, text] : {std::pair("trained_on", &provenance.trained_on),
                                  std::pair("parameters", &provenance.parameters),
                                  std::pair("metrics", &provenance.metrics)}) {
    auto part = part_json(*text, key);
    if (!part) {
      return pass_on(part, kProvenanceFile);
    }
    out[key] = std::move(*part);
  }
  out["checksums"] = std::move(checksums);
  return base::replace_file(base::join_path(model_path, kProvenanceFile),
                            base::dump_json(out, 2) + "\n");
}

Result<void> verify_checksums(const std::string& model_path) {
  auto provenance = read_provenance(model_path);
  if (!provenance) {
    return pass_on(provenance);
  }
  for (const auto& [path, wanted] : provenance->checksums) {
    auto digest = net::sha256_file(base::join_path(model_path, path));
    if (!digest) {
      return fail(Code::DataLoss, "{}: file '{}', which sibyl.json lists, cannot be read: {}",
                  model_path, path, digest.error().message);
    }
    if (*digest != wanted) {
      return fail(Code::DataLoss,
                  "{}: file '{}' has SHA-256 {}, but sibyl.json records {}; it is damaged or was "
                  "changed by hand: import the model again",
                  model_path, path, *digest, wanted);
    }
  }
  return {};
}

}  // namespace sibyl::model
