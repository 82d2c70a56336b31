// Turns a recording of some seconds into a window: reads the recording, finds names, and drops the
// addresses.
//
//   recording (memfd) ──▶ ProfileBuilder ──▶ Named by CachedSymbolizer ──▶ fleet::Window
//                  └────▶ ProgramBuilds, ProcessTable ──▶ workloads ────▲

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/fleet/agent/cached_symbolizer.h"
#include "src/fleet/agent/host_labels.h"
#include "src/fleet/agent/process_table.h"
#include "src/fleet/segments/window.h"
#include "src/profile/naming/naming.h"

namespace profiler::agent {

// A complete recording, with facts that only its recorder knows.
struct FinishedRecording {
  UniqueFd file;
  fleet::UnixTime begin = 0;
  std::chrono::nanoseconds length{0};
  uint64_t frequency = 0;  // Hz
  uint32_t cpus = 0;
  uint64_t samples = 0;
};

// Facts that all windows of this machine share.
struct MachineFacts {
  std::string host;
  HostLabels labels;
  std::string version;
};

// A namer, for one thread. Between windows it keeps the names of files in memory, and up to two
// processes that read files (symbolize/confined).
class WindowNamer {
 public:
  // `naming` should request lines only if stacks are to contain inlined calls. `naming.places` also
  // applies.
  WindowNamer(naming::NamingOptions naming, std::shared_ptr<ProcessTable> processes);

  // Returns the window. Costs some microseconds per distinct stack, plus the lookups in
  // ProcessTable and ProgramBuilds per process. Returns kDataLoss if the recording cannot be
  // read to its end. Other errors: those of Recording::OpenFile.
  absl::StatusOr<fleet::Window> Name(const FinishedRecording& recording,
                                     const MachineFacts& machine);

  // Frees the memory of names; the next window looks them up again.
  void Renew() { names_.Renew(); }

 private:
  absl::StatusOr<fleet::Window> NameNow(const FinishedRecording& recording);
  // Returns true if kernel modules were loaded or removed, so that an address may now belong to
  // another module.
  bool ModulesChanged();

  const naming::NamingOptions naming_;
  const std::shared_ptr<ProcessTable> processes_;
  CachedSymbolizer names_;
  std::string modules_;
};

}  // namespace profiler::agent
