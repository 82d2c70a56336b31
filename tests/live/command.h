// Runs a program as a user would, and keeps its output.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace profiler::tests {

// True if programs of this build run under `ulimit -f`. Programs with ThreadSanitizer do not: they
// map a file of their own at start, and the limit truncates that file.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kRunsWithLimitedFiles = false;
#else
inline constexpr bool kRunsWithLimitedFiles = true;
#endif

struct Finished {
  int exit_code = -1;  // -1 if a signal ended the program
  int signal = 0;
  std::string out;
  std::string err;
};

// A child process. Its working directory and its output files are in `folder`.
class Running {
 public:
  Running(std::vector<std::string> argv, const std::string& folder);
  Running(const Running&) = delete;
  ~Running();

  pid_t pid() const { return pid_; }
  void Signal(int number) const;
  Finished Wait();

 private:
  pid_t pid_ = -1;
  std::string out_path_;
  std::string err_path_;
};

Finished Run(std::vector<std::string> argv, const std::string& folder);

// Returns the path of a test's data file, given its path in the source tree.
std::string Runfile(const std::string& path);

}  // namespace profiler::tests
