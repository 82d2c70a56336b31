// Records without a file, and keeps the latest samples as named windows.
//
//   thread      does
//   recorder    RecordSession: rings → pipe
//   pump        pipe → queue, so that the recorder need not wait
//   namer       WindowMaker: stream → windows → History
//   caller's    History::Get, whenever it draws
//
// Neither the recorder nor the caller waits for names.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/live/history.h"
#include "src/live/window_maker.h"
#include "src/record/options.h"

namespace profiler::live {

struct LiveOptions {
  // Events and targets. Output, callbacks and signals are set by the live recording.
  record::RecordOptions recording;
  // If it names this process as own, the helpers that it has started before are own, too. The
  // recorded command is not.
  WindowOptions windows;
  HistoryOptions history;
  // Limit for bytes that wait for the namer. Then the recorder waits too, the rings fill up, and
  // the kernel counts what it loses.
  size_t most_waiting = size_t{64} << 20;
};

// The outcome of a live recording.
struct LiveOutcome {
  absl::Status status;
  record::RecordSummary summary;
};

// A recording that runs. All functions may be called from any thread.
class LiveRecording {
 public:
  // Begins to record. Errors: those of RecordSession::Create. `kernel` must outlive the recording.
  static absl::StatusOr<std::unique_ptr<LiveRecording>> Start(ringbuf::Kernel& kernel,
                                                              LiveOptions options);
  virtual ~LiveRecording() = default;

  virtual History& history() = 0;
  // Returns lines for the user about the beginning: what was recorded differently than requested.
  virtual const std::vector<std::string>& notes() const = 0;
  // Returns the choice of CallGraph::kAuto, in words; empty without it.
  virtual const std::string& call_graph() const = 0;
  // True once samples were taken whose names are still being looked up.
  virtual bool is_naming() const = 0;
  // Returns a descriptor that becomes readable when the recording has ended by itself.
  virtual int ended_fd() const = 0;
  enum class Waiting : uint8_t {
    kIsNamed,   // Stop waits until the last samples are in the history
    kIsDropped  // samples that wait for names are left out, because nobody will read the history
  };
  // Ends the recording. Further calls return the same outcome. Call it from one thread. Looking up
  // the names of a window cannot be interrupted.
  virtual LiveOutcome Stop(Waiting waiting) = 0;
};

}  // namespace profiler::live
