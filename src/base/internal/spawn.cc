#include "base/internal/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sibyl::base::internal {
namespace {

std::map<std::string, std::string> merged_environment(const ChildOptions& options) {
  std::map<std::string, std::string> merged = options.environment;
  for (char** item = ::environ; item != nullptr && *item != nullptr; ++item) {
    const std::string_view text = *item;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      merged.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
    }
  }
  return merged;
}

bool is_program(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Result<std::string> find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) {
      return name;
    }
    return fail(Code::NotFound, "the program {} is not there or may not be run", name);
  }
  for (size_t at = 0; at <= search_path.size();) {
    const size_t end = std::min(search_path.find(':', at), search_path.size());
    const std::string folder = search_path.substr(at, end - at);
    at = end + 1;
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(path)) {
      return path;
    }
  }
  return fail(Code::NotFound, "the program {} is not found in PATH", name);
}

// A file without a name that holds the input: unlike a pipe it needs nobody to feed it, and a child
// that does not read cannot block us.
Result<FileDescriptor> input_file(const std::string& input) {
  if (input.empty()) {
    FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.get() < 0) {
      return system_error("cannot open", "/dev/null", errno);
    }
    return nothing;
  }
  FileDescriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (file.get() < 0) {
    return system_error("cannot make", "a memory file", errno);
  }
  for (size_t at = 0; at < input.size();) {
    const ssize_t wrote = ::write(file.get(), input.data() + at, input.size() - at);
    if (wrote < 0 && errno != EINTR) {
      return system_error("cannot write", "a memory file", errno);
    }
    at += wrote > 0 ? static_cast<size_t>(wrote) : 0;
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Everything that the child needs, made before the fork: between fork and exec only calls that are
// safe in a copy of a threaded process are allowed.
struct Plan {
  std::string program;
  std::vector<std::string> texts;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const ChildOptions* options = nullptr;
  int input = -1;
  int output = -1;
  int errors = -1;
  int report = -1;
  pid_t parent = -1;
};

void limit(int what, uint64_t value) {
  if (value > 0) {
    const rlimit both{value, value};
    ::setrlimit(static_cast<__rlimit_resource_t>(what), &both);
  }
}

[[noreturn]] void run_in_child(const Plan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) {
    ::_exit(127);  // the parent died before the line above
  }
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  int problem = 0;
  if (::dup2(plan.input, 0) < 0 || ::dup2(plan.output, 1) < 0 || ::dup2(plan.errors, 2) < 0) {
    problem = errno;
  }
  // Whatever other libraries opened stays with the parent.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (problem == 0 && !plan.options->folder.empty() && ::chdir(plan.options->folder.c_str()) != 0) {
    problem = errno;
  }
  if (problem == 0) {
    limit(RLIMIT_CORE, 1);
    limit(RLIMIT_AS, plan.options->memory_bytes_max);
    limit(RLIMIT_CPU, plan.options->cpu_seconds_max);
    ::execve(plan.program.c_str(), plan.arguments.data(), plan.environment.data());
    problem = errno;
  }
  static_cast<void>(!::write(plan.report, &problem, sizeof problem));
  ::_exit(127);
}

Result<Plan> make_plan(const ChildOptions& options) {
  if (options.arguments.empty()) {
    return fail(Code::InvalidArgument, "a child process needs a program name");
  }
  const auto environment = merged_environment(options);
  const auto search = environment.find("PATH");
  auto program = find_program(options.arguments[0],
                              search == environment.end() ? "/usr/bin:/bin" : search->second);
  if (!program) {
    return pass_on(program);
  }
  Plan plan;
  plan.program = std::move(*program);
  plan.options = &options;
  plan.parent = ::getpid();
  plan.texts = options.arguments;
  for (const auto& [name, value] : environment) {
    plan.texts.push_back(fmt::format("{}={}", name, value));
  }
  for (size_t i = 0; i < plan.texts.size(); ++i) {
    (i < options.arguments.size() ? plan.arguments : plan.environment)
        .push_back(plan.texts[i].data());
  }
  plan.arguments.push_back(nullptr);
  plan.environment.push_back(nullptr);
  return plan;
}

}  // namespace

Result<std::pair<FileDescriptor, FileDescriptor>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return system_error("cannot make", "a pipe", errno);
  }
  return std::pair(FileDescriptor(ends[0]), FileDescriptor(ends[1]));
}

Result<Spawned> spawn(const ChildOptions& options, int output, int errors) {
  auto plan = make_plan(options);
  auto input = plan ? input_file(options.input) : Result<FileDescriptor>(pass_on(plan));
  if (!input) {
    return pass_on(input);
  }
  auto report = make_pipe();
  if (!report) {
    return pass_on(report);
  }
  plan->input = input->get();
  plan->output = output;
  plan->errors = errors;
  plan->report = report->second.get();
  Spawned child;
  child.process = ::fork();
  if (child.process < 0) {
    return system_error("cannot start", plan->program, errno);
  }
  if (child.process == 0) {
    run_in_child(*plan);
  }
  ::setpgid(child.process, child.process);  // whichever of the two comes first
  report->second.reset();
  int problem = 0;
  ssize_t got = 0;
  do {
    got = ::read(report->first.get(), &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    collect(child);
    return system_error("cannot start", plan->program, problem);
  }
  child.end_signal.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.process, 0)));
  if (child.end_signal.get() < 0) {
    const int number = errno;
    ::kill(-child.process, SIGKILL);
    collect(child);
    return system_error("cannot watch", plan->program, number);
  }
  return child;
}

bool wait_for_end(const Spawned& child, int64_t timeout_ms) {
  timespec start{};
  ::clock_gettime(CLOCK_MONOTONIC, &start);
  for (;;) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t passed =
        (now.tv_sec - start.tv_sec) * int64_t{1000} + (now.tv_nsec - start.tv_nsec) / 1000000;
    const int64_t left = timeout_ms < 0 ? -1 : std::max<int64_t>(0, timeout_ms - passed);
    pollfd wait{child.end_signal.get(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 && timeout_ms >= 0 && passed >= timeout_ms) {
      return false;
    }
  }
}

int collect(const Spawned& child) {
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(child.process, &status, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return 127;  // somebody else collected it
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace sibyl::base::internal
