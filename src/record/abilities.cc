#include "src/record/abilities.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/base/text.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/machine/events/list_events.h"
#include "src/machine/procfs/kernel_map.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/target/refusal.h"
#include "src/record/ring_size.h"

namespace profiler::record {
namespace {

constexpr uint64_t kUserAlone =
    perf_event::kAttrExcludeKernel | uint64_t{perf_event::kAttrExcludeHv};

perf_event::Attr EventOf(uint32_t type, uint64_t config, uint64_t excluded) {
  perf_event::Attr attr;
  attr.size = sizeof(perf_event_attr);
  attr.type = type;
  attr.config = config;
  attr.flags = perf_event::kAttrDisabled | excluded;
  return attr;
}

class Probe {
 public:
  Probe(ringbuf::Kernel& kernel, const procfs::Roots& roots)
      : kernel_(kernel), roots_(roots), limits_(procfs::ReadPerfLimits(roots)) {}

  std::vector<Ability> Find() {
    return {OwnProgram(),  Counters(),      KernelCode(), AllProcesses(),
            Tracepoints(), KernelSymbols(), RingMemory()};
  }

 private:
  // Tries to open the event. Returns 0, or an error number.
  int Try(const perf_event::Attr& attr, pid_t pid, int cpu) {
    return ErrnoOf(kernel_.OpenEvent(perf_event::ToKernelAttr(attr), pid, cpu, -1).status());
  }
  std::string WhyNot(int error, const std::string& event, bool system_wide) const {
    const absl::Status refused =
        target::ExplainRefusal(error, "recording", event, {.system_wide = system_wide}, limits_);
    return std::string(refused.message());
  }
  Ability AsTried(std::string name, int error, std::string text, bool system_wide = false) const {
    if (error == 0) return {std::move(name), true, std::move(text)};
    return {name, false, WhyNot(error, name, system_wide)};
  }

  Ability OwnProgram() {
    const auto clock = EventOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, kUserAlone);
    return AsTried("own programs", Try(clock, 0, -1), "");
  }

  Ability Counters() {
    const int error = Try(EventOf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, kUserAlone), 0, -1);
    if (!target::IsMissing(error)) return AsTried("hardware counters", error, "");
    return {"hardware counters", false,
            "this machine has none, or its host does not share them; cpu-clock is used instead"};
  }

  Ability KernelCode() {
    const auto clock = EventOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
    return AsTried("kernel code", Try(clock, 0, -1), "");
  }

  Ability AllProcesses() {
    const auto clock = EventOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
    return AsTried("all processes (-a)", Try(clock, -1, 0), "", /*system_wide=*/true);
  }

  Ability Tracepoints() {
    std::string note;
    const size_t count = events::ListEvents(roots_, "tracepoint", &note).size();
    if (count == 0) return {"tracepoints", false, note.empty() ? "the kernel has none" : note};
    return {"tracepoints", true, absl::StrCat(count)};
  }

  Ability KernelSymbols() {
    if (procfs::FindKernelText(roots_)) return {"kernel symbols", true, ""};
    // With kptr_restrict 0, users who may sample the kernel see its addresses, as in
    // kallsyms_for_perf() (kernel/ksyms_common.c, Linux 6.6).
    if (limits_.kptr_restrict == 0) {
      return {"kernel symbols", false,
              absl::StrCat("run as root, or `sudo sysctl kernel.perf_event_paranoid=1`",
                           target::NowIs(limits_.paranoid))};
    }
    return {"kernel symbols", false,
            absl::StrCat("run as root, or `sudo sysctl kernel.kptr_restrict=0 "
                         "kernel.perf_event_paranoid=1`",
                         target::NowIs(limits_.kptr_restrict))};
  }

  Ability RingMemory() {
    if (MayLockMemory(limits_, procfs::PermittedCapabilities(roots_))) {
      return {"ring memory", true, "no limit"};
    }
    if (!limits_.mlock_kb) return {"ring memory", true, ""};
    return {"ring memory", true,
            absl::StrCat(*limits_.mlock_kb,
                         " KiB per CPU; `sudo sysctl kernel.perf_event_mlock_kb=…` allows more")};
  }

  ringbuf::Kernel& kernel_;
  const procfs::Roots& roots_;
  const procfs::PerfLimits limits_;
};

}  // namespace

std::vector<Ability> FindAbilities(ringbuf::Kernel& kernel, const procfs::Roots& roots) {
  return Probe(kernel, roots).Find();
}

}  // namespace profiler::record
