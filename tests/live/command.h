// Runs a program as a person would and keeps what it said.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace profiler::tests {

// Whether a program of this build runs under `ulimit -f`. ThreadSanitizer maps a file of its own
// when a program starts, which the limit cuts short.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kRunsWithLimitedFiles = false;
#else
inline constexpr bool kRunsWithLimitedFiles = true;
#endif

struct Finished {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

// A child with its output in files of `folder`. Its working directory is `folder`.
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

// A file of this build that is a test's data, by its path in the source tree.
std::string Runfile(const std::string& path);

}  // namespace profiler::tests
