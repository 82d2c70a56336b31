#include "src/profile/naming/recorded_machine.h"

#include <time.h>

#include <algorithm>
#include <cstdint>

#include "src/base/clock.h"
#include "src/format/perf_event/abi.h"
#include "src/machine/procfs/build_id.h"
#include "src/machine/procfs/machine.h"
#include "symbolize/symbols/kernel_symbols.h"

namespace profiler::naming {
namespace {

using symbolize::RunningKernel;

constexpr std::string_view kKernel = "[kernel.kallsyms]";

bool IsKernel(const perf_data::BuildIdEntry& entry) {
  const int mode = entry.misc & perf_event::kMiscCpumodeMask;
  if (mode == perf_event::kMiscKernel) return symbolize::IsKernelInBuildIds(entry.filename);
  return mode == perf_event::kMiscCpumodeUnknown && symbolize::IsKernelItself(entry.filename);
}

// True if the recording began while this kernel ran, according to the recorded clocks.
bool IsSinceBoot(const perf_data::ClockData& clock) {
  const int64_t now = ReadClock(CLOCK_REALTIME);
  const int64_t boot = now - ReadClock(CLOCK_BOOTTIME);
  const auto began = static_cast<int64_t>(clock.wall_clock_ns);
  return began >= boot && began <= now;
}

bool Differs(const std::string& recorded, const std::string& here) {
  return !recorded.empty() && recorded != here;
}

}  // namespace

std::string NameInBuildIds(const perf_data::BuildIdEntry& entry) {
  return IsKernel(entry) ? std::string(kKernel) : entry.filename;
}

void TellRecordedMachine(const perf_data::Features& features, symbolize::SymbolizerOptions* files) {
  const procfs::Roots roots{.proc = files->proc_path, .sys = files->sys_path};
  const procfs::MachineFacts here = procfs::ReadMachineFacts(roots);
  files->is_of_another_machine =
      Differs(features.hostname, here.hostname) || Differs(features.arch, here.arch);
  const auto kernel = std::ranges::find_if(features.build_ids, IsKernel);
  if (kernel != features.build_ids.end()) {
    files->kernel_build_id = kernel->build_id;
    files->running_kernel = procfs::BuildIdOfKernel(roots) == kernel->build_id
                                ? RunningKernel::kIsRecorded
                                : RunningKernel::kIsAnother;
    return;
  }
  if (!files->symfs.empty()) return;
  const bool is_of_this = features.hostname == here.hostname &&
                          features.osrelease == here.osrelease && features.arch == here.arch &&
                          !features.osrelease.empty();
  files->running_kernel = !is_of_this                         ? RunningKernel::kIsAnother
                          : !features.clock_data              ? RunningKernel::kMayBe
                          : IsSinceBoot(*features.clock_data) ? RunningKernel::kIsRecorded
                                                              : RunningKernel::kIsAnother;
}

}  // namespace profiler::naming
