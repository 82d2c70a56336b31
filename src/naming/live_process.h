// What a running process has mapped, for naming its addresses.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "src/base/status.h"
#include "src/profile/profile_builder.h"
#include "symbolize/symbolizer.h"

namespace profiler::naming {

// A process as it was when it was read. Not thread-safe.
class LiveProcess {
 public:
  // `symbolizer` must outlive it. kNotFound where there is no such process, kPermissionDenied where
  // it is another user's.
  static absl::StatusOr<LiveProcess> Read(pid_t pid, symbolize::Symbolizer& symbolizer);

  // The code at a runtime address: of an image, the vdso, a JIT with a /tmp/perf-PID.map, or, in
  // the upper half, the kernel. The result is valid until the next call.
  symbolize::Naming Name(uint64_t address);

 private:
  LiveProcess(pid_t pid, symbolize::Symbolizer& symbolizer);

  uint32_t pid_;
  symbolize::Symbolizer* symbolizer_;
  std::unique_ptr<profile::ProfileBuilder> mappings_;
};

}  // namespace profiler::naming
