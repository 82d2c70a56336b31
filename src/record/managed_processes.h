// The virtual machines in the processes of a recording, each read from outside while it runs: by
// what is mapped it is known that there may be one (libjvm.so, node), and when the first frame is
// met of which no image tells anything, it is looked at.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/perf_event/records.h"
#include "src/reader/readers.h"
#include "src/record/code_dumps.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/v8/metadata.h"

namespace profiler::record {

// One thread.
class ManagedProcesses {
 public:
  // `files` says where image files are looked for. `dumps` and `readers` must outlive it.
  ManagedProcesses(const symbolize::SymbolizerOptions& files, CodeDumps& dumps,
                   reader::Readers& readers);
  ~ManagedProcesses();

  // A process maps code of that kind.
  void Mapped(const perf_event::Mmap2& mmap, symbolize::ImageKind kind);
  // A process says where the dump of its JIT compiler is: names are taken from that.
  void HasDump(uint32_t pid) { dumps_.LeaveCompiled(pid); }
  // The process begins another program, or is a new one.
  void Forget(uint32_t pid);

  // Returns null if no virtual machine is known in the process. Valid until the next call of Mapped
  // or Forget. The caller asks for frames of a stack that was copied at `time`; 0: at the time of
  // the dumps.
  symbolize::ManagedCode* Of(uint32_t pid, uint64_t time);
  // Some milliseconds have gone by.
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
  // Of images, by path and build-id; nothing where they are no V8.
  using V8Images = absl::flat_hash_map<std::pair<std::string, std::string>,
                                       std::optional<symbolize::v8::Metadata>>;
  V8Images v8_images_;
};

}  // namespace profiler::record
