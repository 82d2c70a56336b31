#include "src/record/event_plan.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/machine/target/refusal.h"
#include "src/record/return_probes.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::record {
namespace {

using perf_event::Attr;
using target::IsMissing;
using target::IsRefusal;

constexpr uint64_t kSampleType = perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                 perf_event::kSampleTid | perf_event::kSampleTime |
                                 perf_event::kSampleCpu | perf_event::kSamplePeriod;
constexpr uint64_t kPlacement = perf_event::kAttrPinned | perf_event::kAttrExclusive;
constexpr uint64_t kExclusions = perf_event::kAttrExcludeUser | perf_event::kAttrExcludeKernel |
                                 perf_event::kAttrExcludeHv | perf_event::kAttrExcludeIdle |
                                 perf_event::kAttrExcludeHost | perf_event::kAttrExcludeGuest;
// Bytes of stack copied at a context switch. The rest of the stack is read from the process while
// the thread waits.
constexpr uint64_t kSwitchStackBytes = 4096;

class Planner {
 public:
  Planner(ringbuf::Kernel& kernel, const RecordOptions& options, const procfs::PerfLimits& limits,
          const ProbeTarget& target)
      : kernel_(kernel),
        options_(options),
        limits_(limits),
        target_(target),
        events_(options.events) {}

  absl::StatusOr<EventPlan> Plan() {
    if (options_.events.empty()) return absl::InvalidArgumentError("no event to record");
    do {
      PROFILER_RETURN_IF_ERROR(PlanAllSampling());
    } while (GiveUpWeakGroups());
    if ((plan_.unwinds || options_.off_cpu) && options_.clock != CLOCK_MONOTONIC) {
      return absl::InvalidArgumentError(
          "-k: --call-graph dwarf and --off-cpu compare times with those of CLOCK_MONOTONIC; "
          "--call-graph fp, or dwarf with --post-unwind, works with other clocks");
    }
    if (options_.off_cpu) PROFILER_RETURN_IF_ERROR(PlanOffCpu());
    PlanCompanions();
    PROFILER_RETURN_IF_ERROR(PlanSideband());
    plan_.notes.insert(plan_.notes.end(), given_up_.begin(), given_up_.end());
    if (options_.inherit && target_.pid != -1) {
      if (std::string note = events::NoteOnInheritance(events_); !note.empty()) {
        plan_.notes.push_back(std::move(note));
      }
    }
    return std::move(plan_);
  }

 private:
  absl::Status PlanAllSampling() {
    plan_ = {};
    user_only_noted_ = reads_noted_ = false;
    PROFILER_RETURN_IF_ERROR(ChooseFrequency());
    for (const events::FoundEvent& event : events_) PROFILER_RETURN_IF_ERROR(PlanSampling(event));
    return absl::OkStatus();
  }

  // Turns weak groups that cannot be opened into separate events. Returns false if no group had to
  // be turned.
  bool GiveUpWeakGroups() {
    bool given_up = false;
    for (size_t leader = 0; leader < events_.size(); ++leader) {
      if (events_[leader].leader != leader || !events_[leader].weak) continue;
      std::vector<size_t> members;
      for (size_t i = leader; i < events_.size(); ++i) {
        if (events_[i].leader == leader) members.push_back(i);
      }
      if (members.size() == 1 || OpensAsGroup(members)) continue;
      given_up = true;
      given_up_.push_back(absl::StrCat("the group of ", events_[leader].name,
                                       " cannot be counted as one here: its events are sampled "
                                       "each on its own"));
      for (const size_t member : members) {
        events_[member].leader = member;
        events_[member].sample_read = events_[member].weak = false;
        events_[member].group_name.clear();
      }
    }
    return given_up;
  }

  bool OpensAsGroup(const std::vector<size_t>& members) {
    std::vector<UniqueFd> opened;
    for (const size_t member : members) {
      auto fd =
          kernel_.OpenEvent(perf_event::ToKernelAttr(plan_.sampling[member].attr), target_.pid,
                            target_.cpu, opened.empty() ? -1 : opened.front().get());
      if (!fd.ok()) return false;
      opened.push_back(*std::move(fd));
    }
    return true;
  }

  absl::Status ChooseFrequency() {
    frequency_ = options_.frequency;
    if (options_.period != 0 || !limits_.max_sample_rate.has_value()) return absl::OkStatus();
    const uint64_t limit = std::max<int64_t>(1, *limits_.max_sample_rate);
    if (frequency_ <= limit) return absl::OkStatus();
    if (frequency_ != RecordOptions::kMaxFrequency) {
      const std::string remedy = absl::StrCat(
          "; `sudo sysctl kernel.perf_event_max_sample_rate=", frequency_, "` raises it");
      if (options_.strict_frequency) {
        return absl::InvalidArgumentError(absl::StrCat("--strict-freq: ", frequency_,
                                                       " Hz is over the kernel's limit of ", limit,
                                                       " Hz", remedy));
      }
      plan_.notes.push_back(absl::StrCat(frequency_, " Hz is over the kernel's limit: sampling at ",
                                         limit, " Hz", remedy));
    }
    frequency_ = limit;
    return absl::OkStatus();
  }

  // Returns the settings that all events of the recording share, so that time and id are at the
  // same position in all records.
  Attr BaseAttr() const {
    Attr attr;
    attr.sample_type = kSampleType;
    attr.flags = perf_event::kAttrSampleIdAll | perf_event::kAttrUseClockid;
    attr.clockid = options_.clock;
    if (options_.inherit && target_.pid != -1) attr.flags |= perf_event::kAttrInherit;
    return attr;
  }

  absl::Status PlanSampling(const events::FoundEvent& event) {
    Attr attr = BaseAttr();
    attr.type = event.attr.type;
    attr.config = event.attr.config;
    attr.config1 = event.attr.config1;
    attr.config2 = event.attr.config2;
    attr.config3 = event.attr.config3;
    attr.config4 = event.attr.config4;
    attr.bp_type = event.attr.bp_type;
    attr.flags |= event.attr.flags & (kExclusions | kPlacement | perf_event::kAttrPreciseIpMask);
    if (event.terms.inherit == false) attr.flags &= ~uint64_t{perf_event::kAttrInherit};
    const bool is_leader = event.leader == plan_.sampling.size();
    if (is_leader) {
      attr.flags |= perf_event::kAttrDisabled;
      if (target_.enable_on_exec) attr.flags |= perf_event::kAttrEnableOnExec;
    }
    if (event.sample_read) {
      attr.sample_type |= perf_event::kSampleRead;
      attr.read_format = perf_event::kFormatId;
      if (IsInGroup(event)) attr.read_format |= perf_event::kFormatGroup;
    }
    // If a leader's samples carry the counts of the whole group, the other members are sampled only
    // if they ask for a rate.
    const bool has_rate = event.terms.period || event.terms.frequency;
    if (is_leader || !event.sample_read || has_rate) ChooseRate(event, &attr);
    AddContents(event, &attr);
    PROFILER_RETURN_IF_ERROR(ChooseCallGraph(event.terms, &attr));
    ChooseChainPart(&attr);
    return ProbeSampling({.attr = attr,
                          .name = event.name,
                          .leader = event.leader,
                          .group_name = event.group_name,
                          .cpus = event.cpus,
                          .filter = event.filter,
                          .cgroup = event.cgroup,
                          .is_user_return = event.is_user_return});
  }

  void ChooseChainPart(Attr* attr) const {
    if ((attr->sample_type & perf_event::kSampleCallchain) == 0) return;
    if (options_.chain_part == ChainPart::kUser) {
      attr->flags |= perf_event::kAttrExcludeCallchainKernel;
    } else if (options_.chain_part == ChainPart::kKernel) {
      attr->flags |= perf_event::kAttrExcludeCallchainUser;
    }
  }

  bool IsInGroup(const events::FoundEvent& event) const {
    return std::count_if(events_.begin(), events_.end(), [&](const events::FoundEvent& other) {
             return other.leader == event.leader;
           }) > 1;
  }

  void AddContents(const events::FoundEvent& event, Attr* attr) const {
    const SampleContents& contents = options_.contents;
    const std::pair<bool, uint64_t> asked_for[] = {
        {contents.raw || event.has_raw_data, perf_event::kSampleRaw},
        {contents.data_address, perf_event::kSampleAddr | perf_event::kSampleDataSrc},
        {contents.physical_address, perf_event::kSamplePhysAddr},
        {contents.weight, perf_event::kSampleWeightStruct},
        {contents.cgroup, perf_event::kSampleCgroup},
        {contents.user_registers != 0, perf_event::kSampleRegsUser},
        {contents.interrupt_registers != 0, perf_event::kSampleRegsIntr},
        {contents.branches != 0, perf_event::kSampleBranchStack}};
    for (const auto& [is_asked_for, bit] : asked_for) {
      if (is_asked_for) attr->sample_type |= bit;
    }
    attr->sample_regs_user = contents.user_registers;
    attr->sample_regs_intr = contents.interrupt_registers;
    attr->branch_sample_type = contents.branches;
    if (contents.thread_counts && attr->has(perf_event::kAttrInherit)) {
      attr->flags |= perf_event::kAttrInheritStat;
    }
    // An event's own terms take precedence over the options for all events, as in perf.
    if ((attr->flags & (perf_event::kAttrExcludeUser | perf_event::kAttrExcludeKernel)) != 0)
      return;
    if (options_.all_user) attr->flags |= perf_event::kAttrExcludeKernel;
    if (options_.all_kernel) attr->flags |= perf_event::kAttrExcludeUser;
  }

  // Sets period or frequency. An event's own terms take precedence over the options for all events.
  void ChooseRate(const events::FoundEvent& event, Attr* attr) const {
    if (!options_.takes_samples) return;
    uint64_t period = options_.period;
    uint64_t frequency = frequency_;
    if (event.is_sampled_each_time && !options_.rate_is_asked_for) period = 1;
    if (event.terms.frequency) {
      period = 0;
      frequency = *event.terms.frequency;
    }
    if (event.terms.period) period = *event.terms.period;
    if (period == 0) attr->flags |= perf_event::kAttrFreq;
    attr->sample_period = period != 0 ? period : frequency;
  }

  // Plans the companions of return probes. If only some CPUs are recorded, there are no companions,
  // because a function could be entered on another CPU.
  void PlanCompanions() {
    if (!plan_.unwinds || !HasCompanions() || !options_.targets.cpus.empty()) return;
    for (const PlannedEvent& event : plan_.sampling) {
      if (event.is_user_return) plan_.companions.push_back(CompanionOf(event.attr, BaseAttr()));
    }
  }

  // Plans the context switches. They happen in kernel code, so a user who may not sample the kernel
  // gets no samples of them. For such a user, only threads that wait for long get stacks, which are
  // read from their processes.
  absl::Status PlanOffCpu() {
    OffCpuPlan& plan = plan_.off_cpu.emplace();
    Attr attr = BaseAttr();
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.flags |= perf_event::kAttrDisabled;
    PROFILER_RETURN_IF_ERROR(ChooseCallGraph({.stack_size = kSwitchStackBytes}, &attr));
    DropVectorRegisters(&attr);
    plan.written = Written(attr);
    plan.written.config = PERF_COUNT_SW_BPF_OUTPUT;
    plan.written.sample_period = 1;
    plan.written.flags &= ~uint64_t{perf_event::kAttrInherit};
    // With a sample period in the records, the kernel would sample every switch.
    attr.sample_type &= ~perf_event::kSamplePeriod;
    for (const SwitchSampling& sampling : kSwitchSampling) {
      PlannedEvent& event = plan.switches.emplace_back();
      event.attr = attr;
      event.attr.sample_period = sampling.period;
      event.written = plan.written;
    }
    if (target_.enable_on_exec) plan.switches.front().attr.flags |= perf_event::kAttrEnableOnExec;
    const absl::Status opened = Try(plan.switches.front().attr);
    if (opened.ok()) {
      plan_.kernel_samples = true;
      return absl::OkStatus();
    }
    plan.switches.clear();
    if (!IsRefusal(ErrnoOf(opened))) return Explain(opened, "context-switches");
    plan_.notes.push_back(absl::StrCat(
        "not allowed to sample context switches, which are kernel code: times off the CPU are "
        "exact, "
        "but only waits of 5 ms or more have a stack, without the kernel's part; `sudo sysctl "
        "kernel.perf_event_paranoid=1` lifts that",
        target::NowIs(limits_.paranoid)));
    return absl::OkStatus();
  }

  absl::Status ChooseCallGraph(const events::SampleTerms& terms, Attr* attr) {
    CallGraph how = options_.call_graph;
    // A depth (max-stack) implies a call chain, as in perf.
    if (terms.max_stack && how == CallGraph::kNone) how = CallGraph::kFramePointers;
    if (terms.call_graph == "fp") how = CallGraph::kFramePointers;
    if (terms.call_graph == "dwarf") how = CallGraph::kDwarf;
    if (terms.call_graph == "no") how = CallGraph::kNone;
    if (how != CallGraph::kNone) attr->sample_type |= perf_event::kSampleCallchain;
    if (terms.max_stack && how != CallGraph::kNone) {
      if (*terms.max_stack > UINT16_MAX) {
        return absl::InvalidArgumentError(absl::StrCat("max-stack: at most ", UINT16_MAX));
      }
      attr->sample_max_stack = static_cast<uint16_t>(*terms.max_stack);
    }
    if (how != CallGraph::kDwarf) return absl::OkStatus();
    const uint64_t bytes = terms.stack_size.value_or(options_.stack_bytes);
    if (bytes == 0 || bytes > kMostStackBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("stack-size: at most ", kMostStackBytes, " bytes"));
    }
    CopyStacks(static_cast<uint32_t>((bytes + 7) / 8 * 8), attr);
    plan_.unwinds = !options_.post_unwind;
    return absl::OkStatus();
  }

  // Adds registers and stack bytes. The kernel's own walk of the user stack would only repeat ours,
  // so it is excluded. If chains are unwound while recording, ProbeSampling nevertheless requests
  // the kernel's walk, because it helps behind switches of stacks. That walk goes into no file.
  static void CopyStacks(uint32_t bytes, Attr* attr) {
    attr->sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
    attr->flags |= perf_event::kAttrExcludeCallchainUser;
    attr->sample_regs_user |= symbolize::kNativeArchitecture->perf_registers |
                              symbolize::kNativeArchitecture->perf_vector_registers;
    attr->sample_stack_user = bytes;
  }

  // Returns the attr for the file. It has the chains that the unwinding stage makes, but no stacks
  // and no registers that were not requested. exclude_callchain_user stays set, because it says
  // that these chains are ours (FORMAT.md).
  Attr Written(Attr attr) const {
    if (attr.sample_stack_user == 0 || options_.post_unwind) return attr;
    attr.sample_type &= ~perf_event::kSampleStackUser;
    attr.sample_stack_user = 0;
    attr.sample_regs_user = options_.contents.user_registers;
    if (attr.sample_regs_user == 0) attr.sample_type &= ~perf_event::kSampleRegsUser;
    return attr;
  }

  absl::Status ProbeSampling(PlannedEvent event) {
    // If one tracepoint can be opened, all can. Only the first tracepoint is tried, because closing
    // a tracepoint takes the kernel about 10 ms.
    const bool is_tracepoint = event.attr.type == perf_event::kTypeTracepoint;
    absl::Status opened = is_tracepoint && tracepoints_open_ ? absl::OkStatus() : Try(event.attr);
    tracepoints_open_ = tracepoints_open_ || (is_tracepoint && opened.ok());
    // The kernel checks rights before it checks whether the event exists. So after one fall-back,
    // another may turn out to be needed too. Each fall-back is taken at most once.
    bool user_only = false;
    for (;; opened = Try(event.attr)) {
      if (IsUnknownRegister(ErrnoOf(opened)) && DropVectorRegisters(&event.attr)) continue;
      if (IsMissing(ErrnoOf(opened)) && MayBeCpuClock(event.attr)) {
        FallBackToCpuClock(event);
      } else if (ErrnoOf(opened) == EINVAL && HasSplitWeight(event.attr)) {
        event.attr.sample_type ^= perf_event::kSampleWeightStruct | perf_event::kSampleWeight;
      } else if (ErrnoOf(opened) == EINVAL && InheritsReads(event.attr)) {
        LeaveOutStarted(event.attr);
      } else if (IsRefusal(ErrnoOf(opened)) && MaySampleUserOnly(event.attr)) {
        event.attr.flags |= perf_event::kAttrExcludeKernel | perf_event::kAttrExcludeHv;
        user_only = true;
      } else if (IsRefusal(ErrnoOf(opened)) && AsksForKernelChains(event.attr)) {
        event.attr.flags |= perf_event::kAttrExcludeCallchainKernel;
      } else {
        break;
      }
    }
    if (!opened.ok()) return Explain(opened, event.name);
    if (user_only) FallBackToUser(event);
    if (!event.attr.has(perf_event::kAttrExcludeKernel)) plan_.kernel_samples = true;
    event.written = Written(event.attr);
    if (event.attr.sample_stack_user != 0 && !options_.post_unwind) {
      event.attr.flags &= ~perf_event::kAttrExcludeCallchainUser;
    }
    plan_.sampling.push_back(std::move(event));
    return absl::OkStatus();
  }

  static bool IsUnknownRegister(int error) { return error == EINVAL || error == EOPNOTSUPP; }
  // Removes vector registers that were not requested. Returns false if the attr has no such
  // registers.
  bool DropVectorRegisters(Attr* attr) const {
    const uint64_t dropped =
        symbolize::kNativeArchitecture->perf_vector_registers & ~options_.contents.user_registers;
    if ((attr->sample_regs_user & dropped) == 0) return false;
    attr->sample_regs_user &= ~dropped;
    return true;
  }

  // True if cpu-clock may replace the event. It cannot replace cycles that are sampled with
  // branches, because only hardware records branches.
  static bool MayBeCpuClock(const Attr& attr) {
    return attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES &&
           (attr.sample_type & perf_event::kSampleBranchStack) == 0;
  }

  // True for WEIGHT_STRUCT, which kernels before 5.12 do not have.
  static bool HasSplitWeight(const Attr& attr) {
    return (attr.sample_type & perf_event::kSampleWeightStruct) != 0;
  }

  // True if samples of an inherited event carry counts of its group. Kernels before 6.12 refuse
  // that (perf_event_open in kernel/events/core.c).
  static bool InheritsReads(const Attr& attr) {
    return attr.has(perf_event::kAttrInherit) && (attr.sample_type & perf_event::kSampleRead) != 0;
  }

  void LeaveOutStarted(Attr& attr) {
    attr.flags &= ~uint64_t{perf_event::kAttrInherit};
    if (std::exchange(reads_noted_, true)) return;
    plan_.notes.emplace_back(
        "this kernel samples the counts of a group (:S) only in threads that run already, not in "
        "those that they start: Linux 6.12 does, and -a records all");
  }

  void FallBackToCpuClock(PlannedEvent& event) {
    if (!options_.events_are_default) {
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

  // True if an event samples only user space, but asks for the kernel's part of chains, which such
  // samples do not have. Some kernels (Debian's 6.12.117) refuse the event to unprivileged users
  // unless that part is excluded.
  static bool AsksForKernelChains(const Attr& attr) {
    return attr.has(perf_event::kAttrExcludeKernel) &&
           !attr.has(perf_event::kAttrExcludeCallchainKernel) &&
           (attr.sample_type & perf_event::kSampleCallchain) != 0;
  }

  void FallBackToUser(PlannedEvent& event) {
    if (event.name.find(':') == std::string::npos) event.name += ":u";
    if (user_only_noted_) return;
    user_only_noted_ = true;
    plan_.notes.push_back(
        absl::StrCat("not allowed to sample the kernel: recording user space only; `sudo sysctl "
                     "kernel.perf_event_paranoid=1` lifts that",
                     target::NowIs(limits_.paranoid)));
  }

  absl::Status PlanSideband() {
    Attr attr = BaseAttr();
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_period = 1;
    attr.flags |= perf_event::kAttrMmap | perf_event::kAttrMmap2 | perf_event::kAttrComm |
                  perf_event::kAttrCommExec | perf_event::kAttrTask;
    if (options_.contents.data_address || options_.data_mappings)
      attr.flags |= perf_event::kAttrMmapData;
    std::string name = "dummy";
    absl::Status opened = Try(attr);
    if (IsRefusal(ErrnoOf(opened))) {
      attr.flags |= perf_event::kAttrExcludeKernel | perf_event::kAttrExcludeHv;
      name = "dummy:u";
      opened = Try(attr);
    }
    if (!opened.ok()) return Explain(opened, name);
    // Each flag is tried separately, because a kernel that does not know one flag may know the
    // others.
    for (const auto& [is_wanted, flag] :
         {std::pair(true, perf_event::kAttrBuildId),
          std::pair(options_.bpf_events, perf_event::kAttrKsymbol),
          std::pair(options_.bpf_events, perf_event::kAttrBpfEvent),
          std::pair(options_.namespaces, perf_event::kAttrNamespaces),
          std::pair(options_.contents.cgroup, perf_event::kAttrCgroup),
          std::pair(options_.switch_events || options_.off_cpu, perf_event::kAttrContextSwitch)}) {
      if (!is_wanted) continue;
      Attr with_flag = attr;
      with_flag.flags |= flag;
      if (Try(with_flag).ok()) attr = with_flag;
    }
    plan_.sideband = {.attr = attr, .written = attr, .name = std::move(name)};
    if (!options_.switch_events) plan_.sideband.written.flags &= ~perf_event::kAttrContextSwitch;
    return absl::OkStatus();
  }

  absl::Status Try(const Attr& attr) {
    return kernel_.OpenEvent(perf_event::ToKernelAttr(attr), target_.pid, target_.cpu, -1).status();
  }

  absl::Status Explain(const absl::Status& status, const std::string& name) const {
    const int error = ErrnoOf(status);
    if (IsRefusal(error)) {
      const bool is_other = target_.pid > 0 && !target_.enable_on_exec;
      return target::ExplainRefusal(
          error, "recording", name,
          {.system_wide = target_.pid == -1, .other_process = is_other ? target_.pid : 0}, limits_);
    }
    if (error == ESRCH) {
      return ErrnoStatus(ESRCH, absl::StrCat("process ", target_.pid));
    }
    if (IsMissing(error) && options_.contents.branches != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("event ", name,
                       ": has no branch stacks here (-b, -j): they take a hardware event and a CPU "
                       "that records its last branches (Intel's and AMD's LBR, Arm's BRBE)"));
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

  ringbuf::Kernel& kernel_;
  const RecordOptions& options_;
  const procfs::PerfLimits& limits_;
  const ProbeTarget target_;
  // The requested events. Members of abandoned weak groups are separate events here.
  std::vector<events::FoundEvent> events_;
  std::vector<std::string> given_up_;  // notes on the abandoned weak groups
  uint64_t frequency_ = 0;
  bool user_only_noted_ = false, reads_noted_ = false;
  bool tracepoints_open_ = false;  // True if a tracepoint could be opened.
  EventPlan plan_;
};

}  // namespace

absl::StatusOr<EventPlan> PlanEvents(ringbuf::Kernel& kernel, const RecordOptions& options,
                                     const procfs::PerfLimits& limits, const ProbeTarget& target) {
  return Planner(kernel, options, limits, target).Plan();
}

}  // namespace profiler::record
