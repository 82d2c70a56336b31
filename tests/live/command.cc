#include "tests/live/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace profiler::tests {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Running::Running(std::vector<std::string> argv, const std::string& folder) {
  static int number = 0;
  const std::string prefix = folder + "/command-" + std::to_string(++number);
  out_path_ = prefix + ".out";
  err_path_ = prefix + ".err";
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(open(out_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
  dup2(open(err_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
  if (chdir(folder.c_str()) != 0) _exit(126);
  execvp(pointers[0], pointers.data());
  _exit(127);
}

Running::~Running() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Running::Signal(int number) const { kill(pid_, number); }

Finished Running::Wait() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  Finished finished;
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  finished.out = ReadAll(out_path_);
  finished.err = ReadAll(err_path_);
  return finished;
}

Finished Run(std::vector<std::string> argv, const std::string& folder) {
  return Running(std::move(argv), folder).Wait();
}

std::string Runfile(const std::string& path) {
  const char* const root = std::getenv("TEST_SRCDIR");
  return std::string(root != nullptr ? root : ".") + "/profiler/" + path;
}

}  // namespace profiler::tests
