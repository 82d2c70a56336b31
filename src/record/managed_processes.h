// Finds virtual machines in recorded processes and reads each from outside while it runs. A mapping
// (libjvm.so, node) shows that a process may have a machine. The machine is examined when the first
// frame is met that belongs to no image.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/records.h"
#include "src/machine/reader/readers.h"
#include "src/record/code_dumps.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/v8/metadata.h"

namespace profiler::record {

// Returns true if the process has written a map of its code (perf-PID.map).
bool HasJitMap(const symbolize::ImageSpec& spec, const symbolize::SymbolizerOptions& files);

// The virtual machines of all recorded processes. Use it from one thread.
class ManagedProcesses {
 public:
  // `files` says where image files are looked for. `dumps` and `readers` must outlive this object.
  ManagedProcesses(const symbolize::SymbolizerOptions& files, CodeDumps& dumps,
                   reader::Readers& readers);
  ~ManagedProcesses();

  // Takes the mapping of code that a process has made.
  void Mapped(const perf_event::Mmap2& mmap, symbolize::ImageKind kind);
  // Notes that the process's JIT writes its own dump. Names of compiled code then come from that
  // dump.
  void HasDump(uint32_t pid) { dumps_.LeaveCompiled(pid); }
  // Forgets the process, because it executes another program or its pid is reused.
  void Forget(uint32_t pid);

  // Returns the virtual machine of the process; null if it has none. Valid until the next call of
  // Mapped or Forget. `time` is when the stack that the caller unwinds was copied; 0: at the time
  // of the sample, CodeDumps::time().
  symbolize::ManagedCode* Of(uint32_t pid, uint64_t time);
  // Begins a new pass. State that was read from the machines earlier is some milliseconds old.
  void Refresh() { ++look_; }

 private:
  class Process;
  class HotSpotProcess;
  class V8Process;

  const symbolize::SymbolizerOptions& files_;
  CodeDumps& dumps_;
  reader::Readers& readers_;
  uint64_t look_ = 0;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Process>> processes_;
  // V8's metadata in an image, keyed by the image's path and build-id; nothing if the image has no
  // V8.
  using V8Images = absl::flat_hash_map<std::pair<std::string, std::string>,
                                       std::optional<symbolize::v8::Metadata>>;
  V8Images v8_images_;
};

}  // namespace profiler::record
