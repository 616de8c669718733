#include "cli/internal/job_arguments.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/yaml.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr uint64_t kJobFileBytesMax = uint64_t{1} << 20;

// "train.epochs=3"; the name of a training parameter alone means train.NAME.
Result<void> set_value(Json& job, const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail_field(Code::InvalidArgument, "set", "--set '{}' must be KEY=VALUE", setting);
  }
  std::string key = setting.substr(0, equals);
  const auto& parameters = job::train_parameters();
  const bool parameter =
      std::any_of(parameters.begin(), parameters.end(),
                  [&](const job::TrainParameter& item) { return item.name == key; });
  if (parameter) {
    key = "train." + key;
  }
  auto value = base::parse_yaml(setting.substr(equals + 1), nullptr);
  if (!value) {
    return fail_field(Code::InvalidArgument, "set", "--set '{}': {}", setting,
                      value.error().message);
  }
  Json* place = &job;
  for (size_t at = 0; at <= key.size();) {
    const size_t dot = std::min(key.find('.', at), key.size());
    const std::string part = key.substr(at, dot - at);
    if (!place->is_object()) {
      return fail_field(Code::InvalidArgument, "set", "--set '{}': {} is no object", setting,
                        key.substr(0, at));
    }
    place = &(*place)[part];
    if (place->is_null() && dot < key.size()) {
      *place = Json::object();
    }
    at = dot + 1;
  }
  *place = std::move(*value);
  return {};
}

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

// A name where none was given: the collection's or the file's own.
std::string default_name(const Arguments& arguments) {
  std::string name = arguments.collection;
  for (const std::string& path : {arguments.pairs, arguments.texts}) {
    if (name.empty() && !path.empty()) {
      name = std::filesystem::path(path).stem().string();
    }
  }
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool fine = byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.');
    c = fine ? static_cast<char>(std::tolower(byte)) : '-';
  }
  name.erase(0, std::min(name.find_first_not_of("._-"), name.size()));
  return name.substr(0, 64);
}

// Flags of `sibyl train` over what the job file says.
Result<void> apply_flags(const Arguments& arguments, Json& job) {
  const auto put = [](Json& object, const char* key, const std::string& value) {
    if (!value.empty()) {
      object[key] = value;
    }
  };
  put(job["data"], "pairs", arguments.pairs.empty() ? "" : absolute(arguments.pairs));
  put(job["data"], "texts", arguments.texts.empty() ? "" : absolute(arguments.texts));
  put(job["data"], "collection", arguments.collection);
  put(job, "name", arguments.name);
  put(job, "device", arguments.device);
  const bool folder = job::is_base_folder(arguments.base);
  put(job, "base", folder ? absolute(arguments.base) : arguments.base);
  if (!arguments.questions.empty()) {
    job["evaluate"]["questions"] = absolute(arguments.questions);
  }
  for (const std::string& setting : arguments.settings) {
    if (auto done = set_value(job, setting); !done) {
      return done;
    }
  }
  return {};
}

bool has_flags(const Arguments& arguments) {
  return !(arguments.pairs.empty() && arguments.texts.empty() && arguments.collection.empty() &&
           arguments.name.empty() && arguments.device.empty() && arguments.base.empty() &&
           arguments.questions.empty() && arguments.settings.empty());
}

Result<job::JobFile> read_job_file(const Arguments& arguments) {
  const auto text = base::read_file(arguments.target, kJobFileBytesMax);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const std::string folder =
      std::filesystem::path(absolute(arguments.target)).parent_path().string();
  auto job = job::parse_job_file(*text, folder);
  if (!job || !has_flags(arguments)) {
    return job ? std::move(job) : Result<job::JobFile>(pass_on(job, arguments.target));
  }
  Json json = job::job_to_json(*job);
  if (auto done = apply_flags(arguments, json); !done) {
    return pass_on(done);
  }
  return job::job_from_json(json, folder);
}

}  // namespace

bool is_job_file(const std::string& target) {
  return target.ends_with(".yaml") || target.ends_with(".yml") || target.ends_with(".json") ||
         target.find('/') != std::string::npos;
}

Result<job::JobFile> job_from_arguments(const Arguments& arguments) {
  if (arguments.target.empty()) {
    return fail(
        Code::InvalidArgument,
        "name a job file, or supervised or coldstart with --pairs, --texts or --collection");
  }
  if (arguments.target != "supervised" && arguments.target != "coldstart") {
    return read_job_file(arguments);
  }
  Json json = {
      {"kind", arguments.target}, {"name", default_name(arguments)}, {"data", Json::object()}};
  if (auto done = apply_flags(arguments, json); !done) {
    return pass_on(done);
  }
  return job::job_from_json(json, std::filesystem::current_path().string());
}

Result<job::JobFile> evaluation_job(const Arguments& arguments) {
  auto job = read_job_file(arguments);
  if (job && job->kind != job::JobKind::Evaluate) {
    return fail_field(Code::InvalidArgument, "kind",
                      "{} is a job of kind {}; `sibyl train` runs it", arguments.target,
                      job::kind_name(job->kind));
  }
  return job;
}

}  // namespace sibyl::cli
