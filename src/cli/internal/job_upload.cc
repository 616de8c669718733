#include "cli/internal/job_upload.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/environment.h"
#include "base/file_system.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "net/object_store.h"
#include "net/sha256.h"

namespace sibyl::cli {
namespace {

using base::Json;
namespace fs = std::filesystem;

constexpr size_t kFilesMax = 10'000;
constexpr uint64_t kFileBytesMax = uint64_t{2} << 30;
constexpr const char* kMount = "/workspace";
constexpr int64_t kDeleteMs = 10'000;

Result<void> take(std::string& path, const std::string& what, std::vector<UploadFile>& files) {
  if (path.empty()) {
    return {};
  }
  std::error_code problem;
  const fs::path from(path);
  const std::string name =
      from.filename().empty() ? from.parent_path().filename().string() : from.filename().string();
  const std::string target = "input/" + what + "/" + name;
  if (fs::is_regular_file(from, problem)) {
    files.push_back({path, target});
  } else if (fs::is_directory(from, problem)) {
    for (fs::recursive_directory_iterator at(from, problem), end; !problem && at != end;
         at.increment(problem)) {
      if (at->is_regular_file(problem)) {
        files.push_back({at->path().string(),
                         target + "/" + at->path().lexically_relative(from).generic_string()});
      }
    }
  } else {
    return fail(Code::NotFound, "{} is not there (the job file's {})", path, what);
  }
  if (problem) {
    return fail(code_from_errno(problem.value()), "cannot read {}: {}", path, problem.message());
  }
  if (files.size() > kFilesMax) {
    return fail(Code::TooLarge, "the job names more than {} files; put them into one JSONL file",
                kFilesMax);
  }
  path = target;
  return {};
}

/// A pod of the release's own shape that holds the claim while files are written through it.
class UploadPod {
 public:
  UploadPod(const Kubectl& kubectl, std::string name) : kubectl_(kubectl), name_(std::move(name)) {}
  ~UploadPod() {
    // Also of one that was told to stop, which is why its token is not asked.
    static_cast<void>(kubectl_.run(
        {"delete", "pod", name_, "--ignore-not-found", "--wait=false", "--grace-period=0"}, {},
        kDeleteMs, {}));
  }
  UploadPod(const UploadPod&) = delete;
  UploadPod& operator=(const UploadPod&) = delete;

  Result<void> start(const ClusterRelease& release, const std::string& kind) {
    Json container = release.container(kind, "prepare");
    container["name"] = "upload";
    container["command"] = {"sleep", "3600"};
    container.erase("args");
    container.erase("env");
    Json spec = release.pod(kind, "prepare");
    spec["containers"] = Json::array({std::move(container)});
    spec["restartPolicy"] = "Never";
    spec["activeDeadlineSeconds"] = 3600;
    spec["terminationGracePeriodSeconds"] = 0;
    spec["automountServiceAccountToken"] = false;
    const Json pod = {{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata",
                       {{"name", name_},
                        {"labels",
                         {{"app.kubernetes.io/instance", release.name},
                          {"app.kubernetes.io/component", "upload"}}}}},
                      {"spec", std::move(spec)}};
    auto made = kubectl_.run({"create", "--filename=-"}, base::dump_json(pod));
    if (!made && made.error().code != Code::AlreadyExists) {
      return pass_on(made);
    }
    auto ready = kubectl_.run({"wait", "pod/" + name_, "--for=condition=Ready", "--timeout=600s"},
                              {}, 630'000);
    if (!ready && ready.error().code == Code::Interrupted) {
      return pass_on(ready);
    }
    return ready ? Result<void>()
                 : fail(Code::Unavailable, "the pod {} that takes the files did not start: {}",
                        name_, ready.error().message);
  }

  Result<void> put(const UploadFile& file, const std::string& path) {
    const auto bytes = base::read_file(file.path, kFileBytesMax);
    if (!bytes) {
      return tl::unexpected<Error>(bytes.error());
    }
    const std::string sum = net::sha256_hex(*bytes);
    if (sum_there(path) == sum) {
      return {};
    }
    auto folder = exec({"mkdir", "-p", fs::path(path).parent_path().string()});
    if (!folder) {
      return pass_on(folder);
    }
    // The length tells the end: not every kubelet passes on that standard input has ended.
    auto written = exec({"dd", "bs=65536", "iflag=fullblock,count_bytes",
                         fmt::format("count={}", bytes->size()), "status=none", "of=" + path},
                        *bytes);
    if (!written) {
      return pass_on(written);
    }
    return sum_there(path) == sum
               ? Result<void>()
               : fail(Code::Unavailable, "{} did not arrive whole at {}; run it again", file.path,
                      path);
  }

 private:
  Result<std::string> exec(const std::vector<std::string>& command, const std::string& input = {}) {
    std::vector<std::string> arguments = {"exec", name_, "--container=upload"};
    if (!input.empty()) {
      arguments.emplace_back("--stdin");
    }
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return kubectl_.run(arguments, input, 3'600'000);
  }
  std::string sum_there(const std::string& path) {
    const auto said = exec({"sha256sum", path});
    return said ? said->substr(0, said->find(' ')) : std::string();
  }

  const Kubectl& kubectl_;
  const std::string name_;
};

// The store as the release's own steps see it; keys are those of this machine's environment.
Result<net::ObjectStoreOptions> store_options(const Json& container) {
  auto options = net::object_store_from_environment();
  if (!options) {
    return pass_on(options, "uploading the job's files");
  }
  std::map<std::string, std::string> env;
  for (const Json& item : base::value_at(container, "env")) {
    env[base::text_at(item, "name")] = base::text_at(item, "value");
  }
  if (options->endpoint.empty()) {
    options->endpoint = env["AWS_ENDPOINT_URL"];
  }
  if (base::environment_variable("AWS_REGION").empty() && !env["AWS_REGION"].empty()) {
    options->region = env["AWS_REGION"];
  }
  return options;
}

Result<void> upload_to_store(const ClusterRelease& release, const std::string& kind,
                             const std::string& uri, const std::vector<UploadFile>& files) {
  const auto address = net::parse_object_uri(uri);
  if (!address) {
    return tl::unexpected<Error>(address.error());
  }
  auto options = store_options(release.container(kind, "prepare"));
  if (!options) {
    return pass_on(options);
  }
  auto store =
      net::ObjectStore::open(std::move(*options), address->bucket, base::process_stop_token());
  if (!store) {
    return pass_on(store);
  }
  for (const UploadFile& file : files) {
    auto put = (*store)->put_file(net::join_key(address->key, file.target), file.path);
    if (!put) {
      return pass_on(put, "uploading " + file.path);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<UploadFile>> take_inputs(job::JobFile& job) {
  std::vector<UploadFile> files;
  std::string base = job::is_base_folder(job.base) ? job.base : std::string();
  const bool own_base = !base.empty();
  for (const auto& [path, what] :
       {std::pair(&job.pairs, "pairs"), std::pair(&job.texts, "texts"), std::pair(&base, "base"),
        std::pair(&job.evaluate_questions, "questions"), std::pair(&job.evaluate_qrels, "qrels"),
        std::pair(&job.evaluate_texts, "evaluate-texts")}) {
    if (auto taken = take(*path, what, files); !taken) {
      return pass_on(taken);
    }
  }
  if (own_base) {
    job.base = base;
  }
  return files;
}

Result<void> upload_inputs(const Kubectl& kubectl, const ClusterRelease& release,
                           const std::string& kind, const std::string& run,
                           const std::vector<UploadFile>& files) {
  if (files.empty()) {
    return {};
  }
  const auto workspace = release.workspace(kind, run);
  if (!workspace) {
    return tl::unexpected<Error>(workspace.error());
  }
  if (net::is_object_uri(*workspace)) {
    return upload_to_store(release, kind, *workspace, files);
  }
  if (!workspace->starts_with(kMount)) {
    return fail(Code::InvalidData, "the workspace '{}' is neither in a store nor below {}",
                *workspace, kMount);
  }
  UploadPod pod(kubectl, run + "-upload");
  if (auto started = pod.start(release, kind); !started) {
    return started;
  }
  for (const UploadFile& file : files) {
    auto put = pod.put(file, *workspace + "/" + file.target);
    if (base::process_stop_token().stop_requested()) {
      return fail(Code::Interrupted, "stopped while the job's files were brought up");
    }
    if (!put) {
      return pass_on(put, file.path);
    }
  }
  return {};
}

}  // namespace sibyl::cli
