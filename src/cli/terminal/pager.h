// The pager: the program that shows long texts page by page.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>

namespace profiler::cli {

// A redirection of standard output to a pager, during the lifetime of this object. Meanwhile Ctrl-C
// affects only the pager. Only one Pager may exist at a time.
class Pager {
 public:
  // Starts the shell command `command`. Returns null, without effect, if that fails.
  static std::unique_ptr<Pager> Start(const std::string& command);
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  // Flushes standard output, connects it to the terminal again, and waits until the user quits the
  // pager.
  ~Pager();

 private:
  Pager(pid_t pid, int terminal);

  const pid_t pid_;
  const int terminal_;  // the former standard output
  struct sigaction interrupt_ = {}, quit_ = {};
};

}  // namespace profiler::cli
