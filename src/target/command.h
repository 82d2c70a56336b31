// The command that is recorded or counted, or that says how long.
//
//   parent                          child
//   Fork ─────────────────────────► waits in read(go)
//   opens events on its pid
//   Start: write(go) ─────────────► execvp
//   read(failed): end of file ◄──── exec has closed it
//              or errno       ◄──── exec failed; _exit(127)
//
// A parent that dies before Start closes `go`, and the child exits.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::target {

// Where execvp(3) will find `name`, made absolute or not as PATH has it. Errors: kNotFound,
// kPermissionDenied (see CommandFailure).
absl::StatusOr<std::string> FindProgram(const std::string& name);

// The exit code that a shell gives to a command that cannot be started: 127 when it is not found,
// 126 when it is no program or may not be executed. Nothing when `status` is not about that.
std::optional<int> CommandFailure(const absl::Status& status);

// One thread.
class Command {
 public:
  struct End {
    int exit_code = 0;
    int signal = 0;            // that killed it; 0 when it exited
    bool ended_by_us = false;  // with SIGTERM, because what it ran for was over first
  };

  // Looks the program up and forks. Errors: kNotFound, kPermissionDenied (see CommandFailure);
  // those of fork(2), pipe(2) and pidfd_open(2).
  // `output_to_error`: the command's standard output goes where its standard error goes, for the
  // recording itself goes to standard output.
  static absl::StatusOr<std::unique_ptr<Command>> Fork(const std::vector<std::string>& argv,
                                                       bool output_to_error);
  // Kills and reaps a child that was never started. A started one is left alone.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  pid_t pid() const { return pid_; }
  // Readable once the child has exited.
  int end_fd() const { return end_.get(); }

  // Lets the child execute the program; returns when it does.
  absl::Status Start();
  // Sends `signal` to it, if it runs.
  void Kill(int signal);
  // Whether it has ended, after waiting for that for so long at most.
  bool EndsWithin(std::chrono::milliseconds time) const;
  // Waits for its end. Once.
  absl::StatusOr<End> Reap();

 private:
  Command() = default;

  std::string name_;
  pid_t pid_ = -1;
  UniqueFd end_;
  UniqueFd go_;      // write end
  UniqueFd failed_;  // read end
  bool started_ = false;
  bool reaped_ = false;
};

}  // namespace profiler::target
