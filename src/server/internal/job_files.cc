#include "server/internal/job_files.h"

#include <array>
#include <string>
#include <utility>

#include "base/json.h"

namespace sibyl::server {
namespace {

constexpr std::string_view kUploadPrefix = "upload:";

struct FileField {
  const char* section;
  const char* name;
};
constexpr std::array kFileFields = {FileField{"data", "pairs"}, FileField{"data", "texts"},
                                    FileField{"evaluate", "questions"},
                                    FileField{"evaluate", "qrels"}, FileField{"evaluate", "texts"}};

Result<std::string> resolve(const std::string& value, const std::string& field,
                            const Uploads& uploads, bool local) {
  const bool prefixed = value.starts_with(kUploadPrefix);
  const std::string id = prefixed ? value.substr(kUploadPrefix.size()) : value;
  if (prefixed || is_upload_id(id)) {
    auto path = uploads.path_of(id);
    if (!path) {
      return fail_field(Code::NotFound, field, "{}", path.error().message);
    }
    return path;
  }
  if (!local) {
    return fail_field(Code::PermissionDenied, field,
                      "'{}' is a path; over the network a job names the id of an upload: send the "
                      "file with POST /v1/uploads?name=FILE first",
                      value);
  }
  if (!value.starts_with('/')) {
    return fail_field(Code::InvalidArgument, field,
                      "'{}' is no absolute path and no id of an upload", value);
  }
  return value;
}

}  // namespace

Result<void> resolve_job_files(base::Json& job, const Uploads& uploads, bool local) {
  if (!job.is_object()) {
    return fail(Code::InvalidConfig, "a job must be an object, as {{\"kind\": \"coldstart\", …}}");
  }
  for (const FileField& field : kFileFields) {
    const auto section = job.find(field.section);
    if (section == job.end() || !section->is_object()) {
      continue;
    }
    const auto value = section->find(field.name);
    if (value == section->end() || !value->is_string() || value->get_ref<std::string&>().empty()) {
      continue;
    }
    auto path = resolve(value->get<std::string>(), fmt::format("{}.{}", field.section, field.name),
                        uploads, local);
    if (!path) {
      return pass_on(path);
    }
    *value = std::move(*path);
  }
  const auto base_model = job.find("base");
  if (!local && base_model != job.end() && base_model->is_string() &&
      base_model->get<std::string>().find('/') != std::string::npos) {
    return fail_field(Code::PermissionDenied, "base",
                      "'{}' is a directory; over the network a job names a model: import it first",
                      base_model->get<std::string>());
  }
  return {};
}

}  // namespace sibyl::server
