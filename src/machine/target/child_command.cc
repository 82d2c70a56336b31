#include "src/machine/target/child_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/pipe.h"
#include "src/base/text.h"
#include "src/base/write_signals.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::target {
namespace {

constexpr char kFailurePayload[] = "profiler/command-exit-code";
constexpr int kExitNotFound = 127;
constexpr int kExitNotExecutable = 126;
constexpr char kDefaultPath[] = "/bin:/usr/bin";  // execvp(3) uses it if PATH is not set

// Returns a descriptor that is readable once our child `pid` has ended. Linux before 5.3 lacks
// pidfd_open(2). On such a kernel, a thread waits for the child without reaping it, and then closes
// the other end of a pipe.
absl::StatusOr<UniqueFd> OpenEnd(pid_t pid) {
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd.valid()) return pidfd;
  if (errno != ENOSYS) return ErrnoStatus(errno, "pidfd_open");
  PROFILER_ASSIGN_OR_RETURN(Pipe end, MakePipe());
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals must not reach the new thread
  std::thread([pid, write_end = std::move(end.write_end)] {
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::move(end.read_end);
}

// Returns the remedy if a shell would read `name` as a command line: 'ls | wc'.
std::string ShellHint(std::string_view name) {
  const bool is_shell_text = name.find_first_of(" |&;<>$*") != name.npos;
  return is_shell_text ? "; run a command line by a shell: -- sh -c 'COMMAND LINE'" : "";
}

absl::Status ExecFailure(const std::string& name, int error) {
  absl::Status status;
  if (error == ENOENT) {
    status =
        absl::NotFoundError(absl::StrCat("command '", name, "' was not found", ShellHint(name)));
    status.SetPayload(kFailurePayload, absl::Cord(absl::StrCat(kExitNotFound)));
  } else {
    status = ErrnoStatus(error, name);
    status.SetPayload(kFailurePayload, absl::Cord(absl::StrCat(kExitNotExecutable)));
  }
  return status;
}

// Returns 0 if `path` can be executed, as far as can be checked without trying.
int CheckExecutable(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0) return errno;
  if (!S_ISREG(file.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// Predicts the errno of execvp(3), so that a missing program is noticed before any file is opened
// or renamed.
int LookUp(const std::string& name, std::string* program) {
  *program = name;
  if (name.empty()) return ENOENT;
  if (name.find('/') != std::string::npos) return CheckExecutable(name);
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? kDefaultPath : path;
  int error = ENOENT;
  while (true) {
    const size_t colon = rest.find(':');
    std::string directory(rest.substr(0, colon));
    if (directory.empty()) directory = ".";
    *program = directory + "/" + name;
    const int found = CheckExecutable(*program);
    if (found == 0) return 0;
    if (found == EACCES) error = EACCES;
    if (colon == std::string_view::npos) return error;
    rest.remove_prefix(colon + 1);
  }
}

// Runs in the child. Makes only async-signal-safe calls, because the parent may have had threads.
[[noreturn]] void WaitAndExec(int go, int failed, bool output_to_error, char** argv) {
  char byte;
  ssize_t got;
  do {
    got = read(go, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1) {
    RestoreWriteSignals();
    if (output_to_error) dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[0], argv);
    const int error = errno;
    // If the parent is gone by now, nobody reads the error.
    [[maybe_unused]] const ssize_t told = write(failed, &error, sizeof(error));
  }
  _exit(kExitNotFound);
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  std::string program;
  if (const int error = LookUp(name, &program); error != 0) return ExecFailure(name, error);
  return program;
}

std::optional<std::string> ProgramOfScript(const std::string& path) {
  constexpr size_t kMostOfLine = 256;  // BINPRM_BUF_SIZE of the kernel
  std::string start;
  if (!CurrentFileAccess().ReadStart(path, kMostOfLine, &start).ok()) return std::nullopt;
  if (!start.starts_with("#!")) return std::nullopt;
  procfs::TextScanner words(procfs::TextScanner(std::string_view(start).substr(2)).Until('\n'));
  const std::string_view program = words.Word();
  if (BaseName(program) != "env") return std::string(program);
  std::string_view word;
  do {
    word = words.Word();
  } while (word.starts_with('-') || word.find('=') != word.npos);
  const absl::StatusOr<std::string> found = FindProgram(std::string(word));
  return found.ok() ? *found : std::string(program);
}

std::optional<int> CommandFailure(const absl::Status& status) {
  const auto payload = status.GetPayload(kFailurePayload);
  int code = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &code)) return std::nullopt;
  return code;
}

absl::StatusOr<std::unique_ptr<Command>> Command::Fork(const std::vector<std::string>& argv,
                                                       bool output_to_error) {
  if (argv.empty()) return absl::InvalidArgumentError("no command");
  PROFILER_RETURN_IF_ERROR(FindProgram(argv[0]).status());
  PROFILER_ASSIGN_OR_RETURN(Pipe go, MakePipe());
  PROFILER_ASSIGN_OR_RETURN(Pipe failed, MakePipe());
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);

  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork");
  if (pid == 0) {
    // If the child kept its copy of the write end, it would not see that the parent ends.
    close(go.write_end.get());
    WaitAndExec(go.read_end.get(), failed.write_end.get(), output_to_error, arguments.data());
  }
  std::unique_ptr<Command> command(new Command());
  command->name_ = argv[0];
  command->pid_ = pid;
  command->go_ = std::move(go.write_end);
  command->failed_ = std::move(failed.read_end);
  PROFILER_ASSIGN_OR_RETURN(command->end_, OpenEnd(pid));
  return command;
}

Command::~Command() {
  if (started_ || reaped_ || pid_ <= 0) return;
  go_.Reset();
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::Status Command::Start() {
  started_ = true;
  const char byte = 0;
  while (write(go_.get(), &byte, 1) < 0) {
    // EPIPE can only mean that the child was killed: until exec, the child holds the read end.
    if (errno != EINTR) return ErrnoStatus(errno, name_);
  }
  go_.Reset();
  int error = 0;
  ssize_t got;
  do {
    got = read(failed_.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  failed_.Reset();
  if (got != static_cast<ssize_t>(sizeof(error))) return absl::OkStatus();
  return ExecFailure(name_, error);
}

void Command::Kill(int signal) {
  if (!reaped_ && pid_ > 0) kill(pid_, signal);
}

void Command::AskToEnd() {
  if (EndsWithin(std::chrono::milliseconds(0))) return;
  asked_ = true;
  Kill(SIGTERM);
}

bool Command::EndsWithin(std::chrono::milliseconds time) const {
  pollfd watched = {.fd = end_.get(), .events = POLLIN, .revents = 0};
  int ready;
  do {
    ready = poll(&watched, 1, static_cast<int>(time.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

absl::StatusOr<Command::End> Command::Reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, name_);
  }
  reaped_ = true;
  End end{.ended_by_us = asked_};
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace profiler::target
