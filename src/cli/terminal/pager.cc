#include "src/cli/terminal/pager.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "src/base/write_signals.h"

namespace profiler::cli {
namespace {

// Default options of `less`: print a text of one page and quit (F), show colours (R), do not wrap
// long lines (S), and keep the text on quitting (X).
constexpr char kLess[] = "LESS=FRSX";

std::vector<char*> EnvironmentOfPager() {
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.push_back(*variable);
  }
  if (std::getenv("LESS") == nullptr) environment.push_back(const_cast<char*>(kLess));
  environment.push_back(nullptr);
  return environment;
}

}  // namespace

std::unique_ptr<Pager> Pager::Start(const std::string& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const int terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const std::vector<char*> environment = EnvironmentOfPager();
  const char* const arguments[] = {"sh", "-c", command.c_str(), nullptr};
  std::fflush(stdout);
  const pid_t pid = terminal < 0 ? -1 : fork();
  if (pid == 0) {
    RestoreWriteSignals();
    dup2(ends[0], STDIN_FILENO);
    execve("/bin/sh", const_cast<char* const*>(arguments), environment.data());
    _exit(127);
  }
  close(ends[0]);
  if (pid > 0) dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  if (pid > 0) return std::unique_ptr<Pager>(new Pager(pid, terminal));
  if (terminal >= 0) close(terminal);
  return nullptr;
}

Pager::Pager(pid_t pid, int terminal) : pid_(pid), terminal_(terminal) {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupt_);
  sigaction(SIGQUIT, &ignore, &quit_);
}

Pager::~Pager() {
  std::fflush(stdout);
  dup2(terminal_, STDOUT_FILENO);
  close(terminal_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGQUIT, &quit_, nullptr);
}

}  // namespace profiler::cli
