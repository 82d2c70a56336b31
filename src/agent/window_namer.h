// A recording of some seconds as a window: read, named, and without addresses.
//
//   recording (memfd) ──▶ ProfileBuilder ──▶ Named by LastingNames ──▶ fleet::Window
//                  └────▶ ProgramBuilds, ProcessTable ──▶ who ran ──────▲

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "src/agent/host_labels.h"
#include "src/agent/lasting_names.h"
#include "src/agent/process_table.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/fleet/window.h"
#include "src/naming/naming.h"

namespace profiler::agent {

// A recording that is complete, and what only its recorder knows of it.
struct FinishedRecording {
  UniqueFd file;
  fleet::UnixTime begin = 0;
  std::chrono::nanoseconds length{0};
  uint64_t frequency = 0;  // Hz
  uint32_t cpus = 0;
  uint64_t samples = 0;
};

// What is true of all windows of this machine.
struct MachineFacts {
  std::string host;
  HostLabels labels;
  std::string version;
};

// One thread. Between windows it has the names of files in memory, and up to two processes that
// read files (symbolize/confined).
class WindowNamer {
 public:
  // `naming`: without lines unless inlined calls are to be in the stacks; places hold too.
  WindowNamer(naming::NamingOptions naming, std::shared_ptr<ProcessTable> processes);

  // Costs some microseconds a distinct stack, and what WhatRuns has to say of each process.
  // kDataLoss where the recording cannot be read to its end; those of Recording::OpenFile.
  absl::StatusOr<fleet::Window> Name(const FinishedRecording& recording,
                                     const MachineFacts& machine);

  // Gives back the memory of what was looked up; the next window looks it up again.
  void Renew() { names_.Renew(); }

 private:
  absl::StatusOr<fleet::Window> NameNow(const FinishedRecording& recording);
  // The kernel's modules were loaded or removed: their addresses mean something else.
  bool ModulesChanged();

  const naming::NamingOptions naming_;
  const std::shared_ptr<ProcessTable> processes_;
  LastingNames names_;
  std::string modules_;
};

}  // namespace profiler::agent
