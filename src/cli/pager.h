// The program that shows long texts page by page.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>

namespace profiler::cli {

// While it lives, standard output goes to the pager, and Ctrl-C is the pager's. One at a time.
class Pager {
 public:
  // `command` is for the shell. Null where it cannot be started, and all is as it was.
  static std::unique_ptr<Pager> Start(const std::string& command);
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  // Flushes standard output, which is the terminal again, and waits until the user has seen enough.
  ~Pager();

 private:
  Pager(pid_t pid, int terminal);

  const pid_t pid_;
  const int terminal_;  // what standard output was
  struct sigaction interrupt_ = {}, quit_ = {};
};

}  // namespace profiler::cli
