// Runs a command: the command to record or count, or a command that limits the time of a recording
// or count.
//
//   parent                          child
//   Fork ─────────────────────────► waits in read(go)
//   opens events on its pid
//   Start: write(go) ─────────────► execvp
//   read(failed): end of file ◄──── exec closed it
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

// Returns the path at which execvp(3) will find `name`, absolute or relative like the entry of
// PATH. Errors: kNotFound, kPermissionDenied (see CommandFailure).
absl::StatusOr<std::string> FindProgram(const std::string& name);

// Returns the program that runs the script `path`, as its first line says. If that is env(1),
// returns the program that env finds. Nothing if the file is no script, or cannot be read.
std::optional<std::string> ProgramOfScript(const std::string& path);

// Returns the exit code with which a shell reports a command that cannot be started: 127 if the
// command is not found, 126 if it is not a program or may not be executed. Returns nullopt if
// `status` has another cause.
std::optional<int> CommandFailure(const absl::Status& status);

// A child process that executes a command. For one thread.
class Command {
 public:
  struct End {
    int exit_code = 0;
    int signal = 0;  // signal that killed the child; 0 if it exited
    // True if AskToEnd sent SIGTERM, because the recording or count was over first.
    bool ended_by_us = false;
  };

  // Looks the program up and forks. `output_to_error` redirects the command's standard output to
  // its standard error, because the recording is written to standard output. Errors: kNotFound,
  // kPermissionDenied (see CommandFailure); those of fork(2), pipe(2) and pidfd_open(2).
  static absl::StatusOr<std::unique_ptr<Command>> Fork(const std::vector<std::string>& argv,
                                                       bool output_to_error);
  // Kills and reaps a child that was not started. Does nothing to a started one.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  pid_t pid() const { return pid_; }
  // Returns a descriptor that is readable once the child has exited.
  int end_fd() const { return end_.get(); }

  // Lets the child execute the program; returns when it has done so.
  absl::Status Start();
  // Sends `signal` to the child, if it runs.
  void Kill(int signal);
  // Sends SIGTERM to a child that has not exited yet, because the recording or count is over.
  void AskToEnd();
  // Waits for the child's end for at most `time`, and returns true if it has ended.
  bool EndsWithin(std::chrono::milliseconds time) const;
  // Waits for the child's end. Call it once.
  absl::StatusOr<End> Reap();

 private:
  Command() = default;

  std::string name_;
  pid_t pid_ = -1;
  UniqueFd end_;
  UniqueFd go_;      // write end of the pipe `go`
  UniqueFd failed_;  // read end of the pipe `failed`
  bool started_ = false;
  bool reaped_ = false;
  bool asked_ = false;  // True if AskToEnd has sent SIGTERM.
};

}  // namespace profiler::target
