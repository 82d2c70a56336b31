#include "src/record/event_plan.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "src/perf_event/abi.h"

namespace profiler::record {
namespace {

using perf_event::Attr;

constexpr uint64_t kSampleType = perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                 perf_event::kSampleTid | perf_event::kSampleTime |
                                 perf_event::kSampleCpu | perf_event::kSamplePeriod;
constexpr uint64_t kExclusions = perf_event::kAttrExcludeUser | perf_event::kAttrExcludeKernel |
                                 perf_event::kAttrExcludeHv | perf_event::kAttrExcludeIdle |
                                 perf_event::kAttrExcludeHost | perf_event::kAttrExcludeGuest;
// What an unwinder may need: all general registers and pc. On x86-64 without those of segments and
// flags. Source: arch/*/include/uapi/asm/perf_regs.h, Linux 6.18.
#if defined(__aarch64__)
constexpr uint64_t kUserRegisters = (uint64_t{1} << 33) - 1;
#else
constexpr uint64_t kUserRegisters = 0xff0fff;
#endif
// perf_event_attr of linux-libc-dev may be older than ours.
constexpr size_t kKernelAttrSize = std::min(sizeof(perf_event_attr), sizeof(Attr));

bool IsRefusal(int error) { return error == EACCES || error == EPERM; }
bool IsMissing(int error) {
  return error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == ENXIO;
}

std::string Now(const std::optional<int64_t>& sysctl) {
  return sysctl.has_value() ? absl::StrCat(" (now ", *sysctl, ")") : "";
}

class Planner {
 public:
  Planner(ringbuf::Kernel& kernel, const RecordOptions& options, const procfs::PerfLimits& limits,
          const ProbeTarget& target)
      : kernel_(kernel), options_(options), limits_(limits), target_(target) {}

  absl::StatusOr<EventPlan> Plan() {
    if (options_.events.empty()) return absl::InvalidArgumentError("no event to record");
    plan_.unwinds = options_.call_graph == CallGraph::kDwarf && !options_.post_unwind;
    ChooseFrequency();
    for (const EventRequest& request : options_.events) {
      PROFILER_RETURN_IF_ERROR(PlanSampling(request));
    }
    PROFILER_RETURN_IF_ERROR(PlanSideband());
    return std::move(plan_);
  }

 private:
  void ChooseFrequency() {
    frequency_ = options_.frequency;
    if (options_.period != 0 || !limits_.max_sample_rate.has_value()) return;
    const uint64_t limit = std::max<int64_t>(1, *limits_.max_sample_rate);
    if (frequency_ <= limit) return;
    if (frequency_ != RecordOptions::kMaxFrequency) {
      plan_.notes.push_back(absl::StrCat(
          frequency_, " Hz is over the kernel's limit: sampling at ", limit,
          " Hz; `sudo sysctl kernel.perf_event_max_sample_rate=", frequency_, "` raises it"));
    }
    frequency_ = limit;
  }

  // What all events of the recording have in common, so that their records have one layout.
  Attr BaseAttr() const {
    Attr attr;
    attr.sample_type = kSampleType;
    attr.flags = perf_event::kAttrSampleIdAll | perf_event::kAttrUseClockid;
    attr.clockid = CLOCK_MONOTONIC;
    if (options_.inherit && target_.pid != -1) attr.flags |= perf_event::kAttrInherit;
    return attr;
  }

  absl::Status PlanSampling(EventRequest request) {
    Attr attr = BaseAttr();
    attr.type = request.attr.type;
    attr.config = request.attr.config;
    attr.config1 = request.attr.config1;
    attr.config2 = request.attr.config2;
    attr.bp_type = request.attr.bp_type;
    attr.flags |= perf_event::kAttrDisabled |
                  (request.attr.flags & (kExclusions | perf_event::kAttrPreciseIpMask));
    if (options_.period != 0) {
      attr.sample_period = options_.period;
    } else {
      attr.flags |= perf_event::kAttrFreq;
      attr.sample_period = frequency_;  // sample_freq
    }
    if (options_.call_graph != CallGraph::kNone) attr.sample_type |= perf_event::kSampleCallchain;
    if (options_.call_graph == CallGraph::kDwarf) CopyStacks(&attr);
    if (target_.enable_on_exec) attr.flags |= perf_event::kAttrEnableOnExec;
    request.attr = attr;
    return ProbeSampling(std::move(request));
  }

  // The kernel's own walk of the user stack would only stand beside ours.
  void CopyStacks(Attr* attr) const {
    attr->sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
    attr->flags |= perf_event::kAttrExcludeCallchainUser;
    attr->sample_regs_user = kUserRegisters;
    attr->sample_stack_user = options_.stack_bytes;
  }

  // As the file has it: with the chains that the unwinding stage finds in the stacks, and without
  // the stacks. exclude_callchain_user stays set: it tells that these chains are ours (FORMAT.md).
  Attr Written(Attr attr) const {
    if (options_.call_graph != CallGraph::kDwarf || options_.post_unwind) return attr;
    attr.sample_type &= ~(perf_event::kSampleRegsUser | perf_event::kSampleStackUser);
    attr.sample_regs_user = 0;
    attr.sample_stack_user = 0;
    return attr;
  }

  absl::Status ProbeSampling(EventRequest event) {
    absl::Status opened = Try(event.attr);
    // The kernel asks for rights before it asks whether there is such an event, so either fall-back
    // may show that the other is needed as well. Each is taken once at most.
    bool user_only = false;
    for (;; opened = Try(event.attr)) {
      if (IsMissing(ErrnoOf(opened)) && IsCycles(event.attr)) {
        FallBackToCpuClock(event);
      } else if (IsRefusal(ErrnoOf(opened)) && MaySampleUserOnly(event.attr)) {
        event.attr.flags |= perf_event::kAttrExcludeKernel | perf_event::kAttrExcludeHv;
        user_only = true;
      } else {
        break;
      }
    }
    if (!opened.ok()) return Explain(opened, event.name);
    if (user_only) FallBackToUser(event);
    if (!event.attr.has(perf_event::kAttrExcludeKernel)) plan_.kernel_samples = true;
    plan_.sampling.push_back({event.attr, Written(event.attr), std::move(event.name)});
    return absl::OkStatus();
  }

  static bool IsCycles(const Attr& attr) {
    return attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES;
  }

  void FallBackToCpuClock(EventRequest& event) {
    if (!event.is_default) {
      plan_.notes.push_back(absl::StrCat(event.name,
                                         ": this machine has no hardware counters, as most "
                                         "virtual machines; recording cpu-clock instead"));
    }
    const size_t colon = event.name.find(':');
    event.name = "cpu-clock" + (colon == std::string::npos ? "" : event.name.substr(colon));
    event.attr.type = PERF_TYPE_SOFTWARE;
    event.attr.config = PERF_COUNT_SW_CPU_CLOCK;
    event.attr.flags &= ~perf_event::kAttrPreciseIpMask;
  }

  bool MaySampleUserOnly(const Attr& attr) const {
    return !attr.has(perf_event::kAttrExcludeKernel) && !attr.has(perf_event::kAttrExcludeUser);
  }

  void FallBackToUser(EventRequest& event) {
    if (event.name.find(':') == std::string::npos) event.name += ":u";
    if (user_only_noted_) return;
    user_only_noted_ = true;
    plan_.notes.push_back(
        absl::StrCat("not allowed to sample the kernel: recording user space only; `sudo sysctl "
                     "kernel.perf_event_paranoid=1` lifts that",
                     Now(limits_.paranoid)));
  }

  absl::Status PlanSideband() {
    Attr attr = BaseAttr();
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_period = 1;
    attr.flags |= perf_event::kAttrMmap | perf_event::kAttrMmap2 | perf_event::kAttrComm |
                  perf_event::kAttrCommExec | perf_event::kAttrTask;
    std::string name = "dummy";
    absl::Status opened = Try(attr);
    if (IsRefusal(ErrnoOf(opened))) {
      attr.flags |= perf_event::kAttrExcludeKernel | perf_event::kAttrExcludeHv;
      name = "dummy:u";
      opened = Try(attr);
    }
    if (!opened.ok()) return Explain(opened, name);
    // Each on its own: one that this kernel does not know must not cost the others.
    for (const uint64_t flag :
         {perf_event::kAttrBuildId, perf_event::kAttrKsymbol, perf_event::kAttrBpfEvent}) {
      Attr with_flag = attr;
      with_flag.flags |= flag;
      if (Try(with_flag).ok()) attr = with_flag;
    }
    plan_.sideband = {attr, attr, std::move(name)};
    return absl::OkStatus();
  }

  absl::Status Try(const Attr& attr) {
    return kernel_.OpenEvent(ToKernelAttr(attr), target_.pid, target_.cpu, -1).status();
  }

  absl::Status Explain(const absl::Status& status, const std::string& name) const {
    const int error = ErrnoOf(status);
    if (IsRefusal(error)) return ExplainRefusal(error, name);
    if (error == ESRCH) {
      return ErrnoStatus(ESRCH, absl::StrCat("process ", target_.pid));
    }
    if (IsMissing(error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("event ", name,
                       ": this machine or kernel does not have it; `-e cpu-clock` "
                       "works everywhere"));
    }
    if (error == EINVAL) {
      return absl::InvalidArgumentError(
          absl::StrCat("event ", name, ": the kernel refuses it with these options (EINVAL)"));
    }
    return ErrnoStatus(error, "perf_event_open for " + name);
  }

  absl::Status ExplainRefusal(int error, const std::string& name) const {
    const std::string now = Now(limits_.paranoid);
    if (target_.pid == -1) {
      return ErrnoStatus(error, "recording all CPUs",
                         "run as root, give the program CAP_PERFMON, or `sudo sysctl "
                         "kernel.perf_event_paranoid=0`" +
                             now);
    }
    if (limits_.paranoid.value_or(0) > 2) {
      return ErrnoStatus(error, "recording as an ordinary user",
                         "run as root, or `sudo sysctl kernel.perf_event_paranoid=2`" + now);
    }
    if (target_.pid > 0 && !target_.enable_on_exec) {
      return ErrnoStatus(error, absl::StrCat("recording process ", target_.pid),
                         "it may belong to another user: run as root");
    }
    return ErrnoStatus(error, absl::StrCat("event ", name),
                       "run as root, or `sudo sysctl kernel.perf_event_paranoid=1`" + now);
  }

  ringbuf::Kernel& kernel_;
  const RecordOptions& options_;
  const procfs::PerfLimits& limits_;
  const ProbeTarget target_;
  uint64_t frequency_ = 0;
  bool user_only_noted_ = false;
  EventPlan plan_;
};

}  // namespace

absl::StatusOr<EventPlan> PlanEvents(ringbuf::Kernel& kernel, const RecordOptions& options,
                                     const procfs::PerfLimits& limits, const ProbeTarget& target) {
  return Planner(kernel, options, limits, target).Plan();
}

perf_event_attr ToKernelAttr(const Attr& attr) {
  perf_event_attr out{};
  std::memcpy(&out, &attr, kKernelAttrSize);
  out.size = std::min<uint32_t>(perf_event::SmallestSize(attr), kKernelAttrSize);
  return out;
}

}  // namespace profiler::record
