#include "cli/internal/kubectl.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace sibyl::cli {
namespace {

constexpr const char* kProgram = "kubectl";

Code code_of(const std::string& said) {
  const auto has = [&](const char* text) { return said.find(text) != std::string::npos; };
  if (has("(NotFound)") || has("doesn't have a resource type")) {
    return Code::NotFound;
  }
  if (has("(AlreadyExists)")) {
    return Code::AlreadyExists;
  }
  if (has("(Forbidden)")) {
    return Code::PermissionDenied;
  }
  if (has("(Unauthorized)") || has("must be logged in")) {
    return Code::Unauthenticated;
  }
  if (has("(Invalid)") || has("(BadRequest)") || has("error validating")) {
    return Code::InvalidData;
  }
  return Code::Unavailable;
}

// What kubectl wrote to standard error, its last lines on one.
std::string said_by(const std::string& errors) {
  constexpr size_t kShown = 1000;
  std::string said = errors.size() > kShown ? errors.substr(errors.size() - kShown) : errors;
  std::ranges::replace(said, '\n', ' ');
  said.erase(said.find_last_not_of(" \r") + 1);
  return said;
}

}  // namespace

Kubectl::Kubectl(std::string name_space, std::string context)
    : name_space_(std::move(name_space)), context_(std::move(context)) {}

std::vector<std::string> Kubectl::command(const std::vector<std::string>& arguments) const {
  std::vector<std::string> all = {kProgram};
  if (!context_.empty()) {
    all.push_back("--context=" + context_);
  }
  if (!name_space_.empty()) {
    all.push_back("--namespace=" + name_space_);
  }
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

Result<std::string> Kubectl::run(const std::vector<std::string>& arguments,
                                 const std::string& input, int64_t timeout_ms,
                                 const std::stop_token& stop) const {
  base::ChildOptions options;
  options.arguments = command(arguments);
  options.input = input;
  options.timeout_ms = timeout_ms;
  options.stop = stop;
  auto outcome = base::run_child(options);
  if (!outcome) {
    if (outcome.error().code == Code::NotFound) {
      return fail(Code::Unavailable,
                  "`sibyl cluster` drives kubectl, which is not in PATH; install it and choose the "
                  "cluster (kubectl config use-context)");
    }
    return pass_on(outcome);
  }
  if (outcome->exit_status != 0) {
    const std::string said = said_by(outcome->errors);
    return fail(code_of(said), "kubectl {}: {}", fmt::join(arguments, " "),
                said.empty() ? fmt::format("exit {}", outcome->exit_status) : said);
  }
  return std::move(outcome->output);
}

Result<base::Json> Kubectl::read(std::vector<std::string> arguments,
                                 const std::string& input) const {
  arguments.insert(arguments.begin() + 1, "--output=json");
  const auto output = run(arguments, input);
  if (!output) {
    return tl::unexpected<Error>(output.error());
  }
  return base::parse_json(*output, "kubectl's output");
}

Result<void> check_label(const std::string& what, const std::string& text, size_t length_max) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool right = !text.empty() && text.size() <= length_max && plain(text.front()) &&
                     plain(text.back()) &&
                     std::ranges::all_of(text, [&](char c) { return plain(c) || c == '-'; });
  if (!right) {
    return fail_field(Code::InvalidArgument, what,
                      "{} '{}' is no name that Kubernetes takes: 1 to {} of a-z, 0-9 and '-', with "
                      "a letter or digit at both ends",
                      what, text.substr(0, 100), length_max);
  }
  return {};
}

}  // namespace sibyl::cli
