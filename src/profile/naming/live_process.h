// Names addresses of a running process.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "src/base/status.h"
#include "src/profile/profile_builder.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// The mappings of a process when Read was called. Not thread-safe.
class LiveProcess {
 public:
  // Reads the mappings of a process. `symbolizer` must outlive the result. Returns kNotFound if no
  // process has this pid, and kPermissionDenied if the process belongs to another user.
  static absl::StatusOr<LiveProcess> Read(pid_t pid, symbolize::Symbolizer& symbolizer);

  // Names the code at a runtime address: of an image, the vdso, a JIT with a /tmp/perf-PID.map, or,
  // in the upper half, the kernel. The result is valid until the next call.
  symbolize::Naming Name(uint64_t address);

 private:
  LiveProcess(pid_t pid, symbolize::Symbolizer& symbolizer);

  uint32_t pid_;
  symbolize::Symbolizer* symbolizer_;
  std::unique_ptr<profile::ProfileBuilder> mappings_;
};

}  // namespace profiler::naming
