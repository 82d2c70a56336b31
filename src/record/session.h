// One recording, from opening the events to the file's last byte.
//
//   Create   checks the options · forks the command (it waits) · opens events, sampling off
//            · attaches to every thread · writes what already runs
//   Run      sampling on · command starts
//            · rings → file, one round per pass, on one thread and one io_context
//            · with switch_output now and then: features, and the next file (recording_files.h)
//            · with flight: into memory, and files on request (flight_recorder.h)
//            · until the targets end, the duration is over, a signal or RequestStop
//            · sampling off, one last pass · features
//
// From Create on, without flight, the file is always a readable recording, even if this process is killed.

#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/format/perf_data/write/writer.h"
#include "src/record/options.h"

namespace profiler::record {

// A recording. Use it from one thread, except for RequestStop. Does not allocate per sample.
class RecordSession {
 public:
  // Prepares a recording. `kernel` must outlive the session. Every error is a line for the user,
  // with a remedy if there is one:
  //   kInvalidArgument     nothing to record, an offline CPU, an event that the kernel refuses
  //   kNotFound            no such process; no such command (target::CommandFailure says which)
  //   kPermissionDenied    with the sysctl or capability that would permit it
  //   kResourceExhausted   descriptors, ring memory, disk
  //   others               errors of open(2) for the output
  // An existing output file is left alone until all other steps of Create have succeeded.
  static absl::StatusOr<std::unique_ptr<RecordSession>> Create(ringbuf::Kernel& kernel,
                                                               RecordOptions options);
  // Kills the command if it still waits to start.
  virtual ~RecordSession() = default;

  // Records and completes the file; call it once. After an error (full disk, a command that cannot
  // be executed) the file is readable up to the error, and summary() describes its contents. Files
  // that were completed before the error stay complete.
  //
  // With switch_output or flight, SIGUSR2 does not end the process from the start of Run until this object is
  // destroyed.
  //
  // The first of SIGINT, SIGTERM and SIGHUP ends the recording and the file is completed. These
  // signals then have their former effect again, so a second one ends the process at once. A signal
  // sent only to this process is passed on to the command; a signal from the terminal reaches the
  // command anyway. If the reader of an output pipe closes it, the recording also ends, with a note
  // and without an error.
  virtual absl::Status Run() = 0;

  // Waits for the end of a command that runs on after Run has returned (summary().command_runs_on),
  // and adds it to the summary. Errors: those of waitpid(2).
  virtual absl::Status AwaitCommand() = 0;

  // Returns the writer of the last file that Run has written. It takes further sections, and can
  // read back the file. Valid as long as this object. Null with flight, whose files all go to
  // on_file. Do not call it after an error, or after the reader has closed the output pipe.
  virtual perf_data::Writer* last_file() = 0;

  // Returns the process of the command, which waits to start until Run; nullopt without a command.
  virtual std::optional<pid_t> command_pid() const = 0;

  // Makes Run end. Call it from any thread at any time, but not from a signal handler.
  virtual void RequestStop() = 0;

  // Returns the summary. It is complete once Run has returned; its notes are available from Create
  // on.
  virtual const RecordSummary& summary() const = 0;
};

}  // namespace profiler::record
