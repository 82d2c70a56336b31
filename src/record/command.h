// The command that is recorded, or that says how long to record.
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

#include <memory>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/record/options.h"

namespace profiler::record {

// Where execvp(3) will find `name`, made absolute or not as PATH has it. Errors: kNotFound,
// kPermissionDenied (see CommandFailure).
absl::StatusOr<std::string> FindProgram(const std::string& name);

// One thread.
class Command {
 public:
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
  int pidfd() const { return pidfd_.get(); }

  // Lets the child execute the program; returns when it does.
  absl::Status Start();
  // Sends `signal` to it, if it runs.
  void Kill(int signal);
  // Waits for its end. Once.
  absl::StatusOr<RecordSummary::CommandEnd> Reap();

 private:
  Command() = default;

  std::string name_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  UniqueFd go_;      // write end
  UniqueFd failed_;  // read end
  bool started_ = false;
  bool reaped_ = false;
};

}  // namespace profiler::record
