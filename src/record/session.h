// One recording, from opening the events to the file's last byte.
//
//   Create   checks the options · forks the command (it waits) · opens events, sampling off
//            · attaches to every thread · writes what already runs
//   Run      sampling on · command starts
//            · rings → file, a round a pass, on one thread and one io_context
//            · with switch_output now and then: features, and the next file (recording_files.h)
//            · until the targets' end, the duration, a signal or RequestStop
//            · sampling off, one last pass · features
//
// The file is a readable recording from Create on, whatever happens to this process.

#pragma once

#include <memory>
#include <optional>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/perf_data/write/writer.h"
#include "src/record/options.h"

namespace profiler::record {

// One thread, except for RequestStop. Nothing is allocated per sample.
class RecordSession {
 public:
  // `kernel` must outlive the session. Every error is a line for the user, with a remedy where
  // there is one:
  //   kInvalidArgument     nothing to record, an offline CPU, an event that the kernel refuses
  //   kNotFound            no such process; no such command (target::CommandFailure says which)
  //   kPermissionDenied    with the sysctl or capability that would permit it
  //   kResourceExhausted   descriptors, ring memory, disk
  //   others               those of open(2) for the output
  // Until all of this has succeeded, an old output file is left alone.
  static absl::StatusOr<std::unique_ptr<RecordSession>> Create(ringbuf::Kernel& kernel,
                                                               RecordOptions options);
  // Kills the command if it still waits to start.
  virtual ~RecordSession() = default;

  // Records and finishes the file; once. An error (full disk, a command that cannot be executed)
  // leaves a file that is readable up to there, and summary() says what is in it. Files that are
  // complete by then stay so.
  //
  // With switch_output, SIGUSR2 is no end of the process from Run on until this object goes.
  //
  // The first of SIGINT, SIGTERM and SIGHUP ends the recording and the file is completed; from then
  // on they have their former effect, so a second one ends the process at once. A signal that was
  // sent to this process alone is passed on to the command; one from the terminal reaches it
  // anyway. So does the end of whoever reads the output from a pipe: a note says so, and it is no
  // error.
  virtual absl::Status Run() = 0;

  // Waits for the end of a command that runs on after Run has returned (summary().command_runs_on),
  // and puts that into the summary. Errors: those of waitpid(2).
  virtual absl::Status AwaitCommand() = 0;

  // Of the last file that Run has written: takes further sections, and what was written can be read
  // from it. Valid as long as this. Not after an error, nor where the reader has left.
  virtual perf_data::Writer& last_file() = 0;

  // Makes Run end. Any thread, any time, not in a signal handler.
  virtual void RequestStop() = 0;

  // Complete once Run has returned; its notes from Create on.
  virtual const RecordSummary& summary() const = 0;
};

}  // namespace profiler::record
