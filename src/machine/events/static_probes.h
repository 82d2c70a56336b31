// Finds static probes (USDT) by name, in the programs and libraries of this machine.
//
// A probe is a nop in the code, at any number of places, and a uprobe can be inserted there. Which
// files have which probes is in no list. So files are searched when they are needed: the recorded
// program, the files that running processes have mapped as code, and directories. Only files of
// root and of this user are searched, because everybody could make a probe of that name.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/machine/events/event_text.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

// Places where static probes are searched, beyond running processes.
struct ProbeSearch {
  std::string program;                   // path of the recorded program; empty: none
  std::vector<std::string> directories;  // not their subdirectories
};

// Returns a search in the directories of PATH and of ld.so.conf(5).
ProbeSearch SearchThisMachine();

// One place of a static probe.
struct StaticProbePlace {
  std::string path;  // absolute, without links
  std::string provider;
  std::string name;
  std::string arguments;          // as in the note: "-4@%edi 8@16(%rbp)"
  uint64_t offset = 0;            // of the nop in the file, in bytes
  uint64_t semaphore_offset = 0;  // of the counter in the file, in bytes; 0: none
};

// Returns the probes of one file, in the order of the file. Leaves out places without a nop,
// because a breakpoint there could break the program. Errors: those of opening the file.
absl::StatusOr<std::vector<StaticProbePlace>> ReadStaticProbes(const std::string& path);

// Finds probes by name. Reads the searched files once, at the first call without a path, which
// takes 0.1 to 1 s. Not thread-safe.
class StaticProbeFinder {
 public:
  StaticProbeFinder(procfs::Roots roots, ProbeSearch search)
      : roots_(std::move(roots)), search_(std::move(search)) {}

  // Returns all places of the probes that match. Without a path, the files of the recorded program
  // come first; if a probe of them matches, no other file counts. Errors: kNotFound if no probe
  // matches; those of opening the file at the path.
  absl::StatusOr<std::vector<StaticProbePlace>> Find(const NamedProbe& probe);

  // Returns the probes of all searched files, sorted by path.
  const std::vector<StaticProbePlace>& All();

 private:
  std::vector<StaticProbePlace> OfProgram() const;

  const procfs::Roots roots_;
  const ProbeSearch search_;
  bool is_read_ = false;
  std::vector<StaticProbePlace> of_program_;
  std::vector<StaticProbePlace> all_;
};

}  // namespace profiler::events
