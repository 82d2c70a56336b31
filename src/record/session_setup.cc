#include "src/record/session_setup.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/atomic_file.h"
#include "src/base/file_access.h"
#include "src/base/raised_capabilities.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/machine/events/tracing_data.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/procfs/synthesizer.h"
#include "src/machine/procfs/tasks.h"
#include "src/machine/target/cgroup.h"
#include "src/record/attach.h"
#include "src/record/call_graph_choice.h"
#include "src/record/image_keeper.h"
#include "src/record/ring_size.h"

namespace profiler::record {
namespace {

// Wake-ups per second while one thread keeps a CPU busy. A system-wide recording copies so much of
// each stack that hardly any stack is read later, so fewer wake-ups suffice. A wake-up costs as
// much as unwinding some samples.
constexpr uint64_t kWakeUpsPerSecond = 250, kWakeUpsPerSecondOfAll = 25;

class SetupSteps {
 public:
  SetupSteps(ringbuf::Kernel& kernel, RecordOptions options)
      : kernel_(kernel),
        options_(std::move(options)),
        limits_(procfs::ReadPerfLimits(options_.roots)) {}

  absl::StatusOr<SessionSetup> Run() {
    const target::Targets& targets = options_.targets;
    PROFILER_RETURN_IF_ERROR(target::CheckTargets(targets, "record"));
    setup_.records_command = targets.is_command_alone();
    // With a delay, the timer enables the events instead.
    setup_.begins_with_exec =
        setup_.records_command && options_.delay.count() == 0 && !options_.starts_disabled;
    if (options_.control) {
      PROFILER_ASSIGN_OR_RETURN(setup_.control, target::Control::Open(*options_.control));
    }
    PROFILER_ASSIGN_OR_RETURN(cpus_, target::ChooseCpus(options_.roots, targets));
    PROFILER_ASSIGN_OR_RETURN(setup_.threads, target::FindThreads(options_.roots, targets));
    if (options_.off_cpu) PROFILER_RETURN_IF_ERROR(CheckOffCpu());
    PROFILER_RETURN_IF_ERROR(CheckOutput());
    if (options_.call_graph == CallGraph::kAuto) {
      CallGraphChoice choice = ChooseCallGraph(options_, Means());
      options_.call_graph = choice.call_graph;
      if (targets.system_wide && options_.stack_bytes == 0) {
        options_.stack_bytes = kSystemWideStackBytes;
      }
      setup_.call_graph = std::move(choice.reason);
    }
    if (options_.stack_bytes == 0) {
      // A file of raw stacks stores each copy in full, even if fewer bytes were copied.
      options_.stack_bytes =
          options_.post_unwind
              ? kModestStackBytes
              : DefaultStackBytes(limits_, procfs::PermittedCapabilities(options_.roots),
                                  SamplingRate());
    }
    PROFILER_ASSIGN_OR_RETURN(setup_.plan, PlanEvents(kernel_, options_, limits_, Probe()));
    setup_.notes = setup_.plan.notes;
    PROFILER_ASSIGN_OR_RETURN(const std::string tracing_data, DescribeTracepoints());
    if (!options_.targets.command.empty()) {
      PROFILER_ASSIGN_OR_RETURN(
          setup_.command, target::Command::Fork(options_.targets.command, options_.output == "-"));
    }
    CurrentFileAccess().Start();
    if (setup_.plan.unwinds || setup_.plan.off_cpu) StartReaders();
    PROFILER_RETURN_IF_ERROR(OpenEvents());
    const perf_event::RecordLayout layout(setup_.plan.sampling.front().written);
    setup_.tally = std::make_unique<RecordTally>(layout);
    if (options_.switch_output) setup_.tally->FollowWhatRuns();
    if (options_.processes != nullptr) setup_.tally->TellOfProcesses(options_.processes);
    if (setup_.plan.unwinds || setup_.plan.off_cpu) {
      MakeUnwinding();
    } else {
      setup_.tally->FollowSharers([proc = options_.roots.proc](uint32_t a, uint32_t b) {
        return HaveSameMemory(proc, a, b);
      });
    }
    if (options_.kept != nullptr) KeepImages();
    setup_.facts = std::make_unique<RecordingFacts>(RecordingFacts{
        .events = EventsToWrite(),
        .writer = {.compression_level = options_.compression_level,
                   .on_stream = options_.on_stream,
                   .in_memory = options_.in_memory},
        .features = FeaturesKnownBefore(options_, setup_.plan, tracing_data),
        .kernel = setup_.plan.kernel_samples ? procfs::BuildIdOfKernel(options_.roots)
                                             : procfs::BuildId()});
    PROFILER_RETURN_IF_ERROR(WriteWhatRuns(layout));
    return std::move(setup_);
  }

 private:
  ProbeTarget Probe() const {
    ProbeTarget probe;
    probe.cpu = cpus_.front();
    if (options_.targets.system_wide) {
      probe.pid = -1;
    } else if (!options_.targets.pids.empty()) {
      // Events cannot be opened on the first thread if it has ended.
      const pid_t pid = options_.targets.pids.front();
      probe.pid = procfs::LivingThread(options_.roots, pid).value_or(pid);
    } else if (!options_.targets.tids.empty()) {
      probe.pid = options_.targets.tids.front();
    }
    probe.enable_on_exec = setup_.begins_with_exec;
    return probe;
  }

  UnwindingMeans Means() const {
    return {.limits = limits_,
            .capabilities = procfs::PermittedCapabilities(options_.roots),
            .page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE)),
            .memory = procfs::ReadMachineFacts(options_.roots).total_mem_kb * 1024,
            .cpus = cpus_.size(),
            .samples_per_second = SamplingRate()};
  }

  // Returns the number of samples per second on one CPU. An event with a period has an unknown
  // rate; the frequency is used instead.
  uint64_t SamplingRate() const {
    uint64_t rate = options_.frequency;
    if (limits_.max_sample_rate.has_value()) {
      rate = std::min<uint64_t>(rate, static_cast<uint64_t>(*limits_.max_sample_rate));
    }
    return rate * options_.events.size();
  }

  // Returns the formats of the tracepoints, for readers of the file; empty without tracepoints.
  absl::StatusOr<std::string> DescribeTracepoints() const {
    std::vector<events::Tracepoint> tracepoints;
    for (const events::FoundEvent& event : options_.events) {
      if (event.tracepoint) tracepoints.push_back(*event.tracepoint);
    }
    if (tracepoints.empty()) return "";
    return events::TracingData(options_.roots, tracepoints);
  }

  absl::Status OpenEvents() {
    const auto page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const RingSize ring = options_.ring_bytes != 0
                              ? RequestedRing(options_.ring_bytes, page_size)
                              : DefaultRing(limits_, procfs::PermittedCapabilities(options_.roots),
                                            page_size, BytesPerSecond());
    ringbuf::EventSetOptions set;
    perf_event::Attr sideband = setup_.plan.sideband.attr;
    if (setup_.plan.unwinds) WakeSoon(ring.pages * page_size, &sideband);
    set.attrs.push_back(perf_event::ToKernelAttr(sideband));
    set.leaders = {0};
    set.attr_cpus.resize(1);
    set.filters.resize(1);
    std::vector<std::string> cgroup_names(1);
    for (const PlannedEvent& event : setup_.plan.sampling) {
      set.attrs.push_back(perf_event::ToKernelAttr(event.attr));
      set.leaders.push_back(event.leader + 1);
      set.attr_cpus.push_back(event.cpus);
      set.filters.push_back(event.filter);
      cgroup_names.push_back(event.cgroup);
    }
    if (setup_.plan.off_cpu) {
      for (const PlannedEvent& event : setup_.plan.off_cpu->switches) {
        set.leaders.push_back(set.attrs.size());
        set.attrs.push_back(perf_event::ToKernelAttr(event.attr));
      }
    }
    for (const perf_event::Attr& companion : setup_.plan.companions) {
      set.leaders.push_back(set.attrs.size());
      set.attrs.push_back(perf_event::ToKernelAttr(companion));
    }
    set.attr_cpus.resize(set.attrs.size());
    set.filters.resize(set.attrs.size());
    cgroup_names.resize(set.attrs.size());
    PROFILER_ASSIGN_OR_RETURN(
        const std::vector<UniqueFd> cgroups,
        target::OpenCgroups(options_.roots, cgroup_names, options_.targets.system_wide));
    for (const UniqueFd& cgroup : cgroups) set.cgroups.push_back(cgroup.get());
    set.cpus = cpus_;
    set.system_wide = options_.targets.system_wide;
    set.ring_pages = ring.pages;
    set.min_ring_pages = ring.min_pages;
    set.expected_threads = std::max<size_t>(setup_.threads.size(), 1);
    PROFILER_ASSIGN_OR_RETURN(setup_.events, ringbuf::EventSet::Create(kernel_, std::move(set)));
    if (setup_.records_command) {
      PROFILER_RETURN_IF_ERROR(setup_.events->AddThread(setup_.command->pid()));
    } else if (!options_.targets.system_wide) {
      target::Targets& targets = options_.targets;
      PROFILER_ASSIGN_OR_RETURN(
          const std::vector<pid_t> of_trees,
          AttachThreads(options_.roots, targets, options_.inherit, *setup_.events));
      targets.pids.insert(targets.pids.end(), of_trees.begin(), of_trees.end());
    }
    NoteLimits(ring.pages, page_size);
    return absl::OkStatus();
  }

  // Keeps images open. The events already have their descriptors. Images may use half of the
  // descriptors that are left; or as many as raising the limit adds, if that is more than half.
  void KeepImages() {
    constexpr uint64_t kMostKept = 16384;
    const uint64_t before = kernel_.FileLimit();
    const uint64_t limit = kernel_.RaiseFileLimit(before + kMostKept);
    const uint64_t open = NamesIn("/proc/self/fd").size();
    const uint64_t left = limit - std::min(limit, open);
    const uint64_t files = std::min(kMostKept, std::max(limit - before, left / 2));
    const auto keeper = std::make_shared<ImageKeeper>(
        options_.kept, options_.roots,
        ImageKeeper::Limits{.files = files, .system_wide = options_.targets.system_wide});
    setup_.tally->KeepImages(keeper);
    if (setup_.unwinding == nullptr) return;
    // The unwinding stage meets new mappings first.
    setup_.unwinding->OpenKept(
        options_.kept, [keeper](const perf_event::Mmap2& mapping) { keeper->Take(mapping); });
  }

  // Starts the processes of the readers. They are forked early, while this process has no rings,
  // images and tables yet. An error becomes a note of the recording later.
  void StartReaders() {
    readers_ =
        std::make_unique<reader::Readers>(reader::ReadersOptions{.proc = options_.roots.proc});
    (void)readers_->Start();
  }

  void MakeUnwinding() {
    std::vector<SampleLayouts> layouts;
    for (const PlannedEvent& event : setup_.plan.sampling) {
      layouts.push_back({.opened = perf_event::RecordLayout(event.attr),
                         .written = perf_event::RecordLayout(event.written),
                         .is_return = event.is_user_return,
                         .name = event.name});
    }
    if (setup_.plan.off_cpu) {
      for (const PlannedEvent& event : setup_.plan.off_cpu->switches) {
        layouts.push_back({perf_event::RecordLayout(event.attr),
                           perf_event::RecordLayout(event.written), /*is_switch=*/true});
      }
    }
    for (const perf_event::Attr& companion : setup_.plan.companions) {
      const perf_event::RecordLayout layout(companion);
      layouts.push_back({.opened = layout, .written = layout, .is_entry = true});
    }
    output_event_ = layouts.size();
    const perf_event::RecordLayout output(ProgramOutput());
    layouts.push_back({.opened = output, .written = output, .is_output = true});
    setup_.unwinding =
        std::make_unique<UnwindStage>(std::move(layouts), options_.roots, std::move(readers_));
    if (setup_.plan.unwinds) RunPrograms();
    if (!setup_.plan.companions.empty()) {
      setup_.unwinding->FollowReturnProbes(setup_.events->MonotonicNow());
    }
    if (setup_.plan.off_cpu) MakeOffCpu();
    for (const ringbuf::EventSet::OpenedEvent& opened : setup_.events->events()) {
      if (opened.attr != 0) setup_.unwinding->AddId(opened.id, opened.attr - 1);
    }
  }

  // Lets the kernel read large stacks and walk the frames of Python at the events whose stacks are
  // unwound.
  void RunPrograms() {
    SampleGateOptions gate;
    const std::vector<PlannedEvent>& sampling = setup_.plan.sampling;
    for (size_t i = 0; i < sampling.size(); ++i) {
      if (RunsPrograms(sampling[i].attr)) gate.samples.push_back(i + 1);
    }
    if (setup_.plan.off_cpu && options_.interpreters) {
      const std::vector<PlannedEvent>& switches = setup_.plan.off_cpu->switches;
      for (size_t i = 0; i < switches.size(); ++i) {
        if (RunsPrograms(switches[i].attr)) gate.switches.push_back(sampling.size() + i + 1);
      }
    }
    if (gate.samples.empty() && gate.switches.empty()) return;
    gate.output = perf_event::ToKernelAttr(ProgramOutput());
    gate.on_output = [unwinding = setup_.unwinding.get(), event = output_event_](uint64_t id) {
      unwinding->AddId(id, event);
    };
    setup_.gate = std::make_unique<SampleGate>(*setup_.events, std::move(gate), KernelPrograms());
    // An error is told when the programs are needed.
    if (!options_.targets.system_wide) (void)setup_.gate->Attach();
    setup_.stacks = std::make_unique<KernelFollower>(*setup_.gate);
    setup_.unwinding->SetStackFollower(setup_.stacks.get());
    if (options_.interpreters) WalkPython();
  }

  // BPF programs of this type run at events of the CPU and of the kernel's software, not at
  // tracepoints.
  static bool RunsPrograms(const perf_event::Attr& attr) {
    return attr.sample_stack_user != 0 &&
           (attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_SOFTWARE ||
            attr.type == PERF_TYPE_HW_CACHE || attr.type == PERF_TYPE_RAW);
  }

  void WalkPython() {
    python::KernelWalkerOptions how;
    how.is_root = procfs::IsRoot(options_.roots);
    constexpr uint64_t kToLoad = kCapBpf | kCapPerfmon;
    how.may_load = (RaisableCapabilities() & kToLoad) == kToLoad;
    how.is_locked_down = procfs::ReadLine(options_.roots.sys + "/kernel/security/lockdown")
                             .value_or("")
                             .find("[confidentiality]") != std::string::npos;
    setup_.python = std::make_unique<python::KernelWalker>(*setup_.gate, how);
    setup_.unwinding->SetPythonWalker(setup_.python.get());
    if (setup_.records_command && RunsPython(options_.targets.command.front())) {
      setup_.python->Prepare();
    }
  }

  // True if the command is Python or a script of Python. Then the programs are loaded before the
  // command starts: samples of large stacks would fill the rings in the 60 ms in which the kernel
  // checks the programs. A script that is called python3 chooses a version and runs it (pyenv).
  static bool RunsPython(const std::string& command) {
    const auto program = target::FindProgram(command);
    if (!program.ok()) return false;
    return python::MayBePython(*program) ||
           python::MayBePython(target::ProgramOfScript(*program).value_or(""));
  }

  // Returns the attr of the events by which programs in the kernel write. The fields before the raw
  // data are those of the sampling events.
  perf_event::Attr ProgramOutput() const {
    perf_event::Attr attr = setup_.plan.sideband.attr;
    attr.config = PERF_COUNT_SW_BPF_OUTPUT;
    attr.sample_period = 1;
    attr.sample_type |= perf_event::kSampleRaw;
    attr.flags = perf_event::kAttrSampleIdAll | perf_event::kAttrUseClockid;
    attr.wakeup_events = 0;
    return attr;
  }

  absl::Status CheckOffCpu() const {
    if (options_.post_unwind) {
      return absl::InvalidArgumentError(
          "--off-cpu and --post-unwind cannot be used together, because stacks are unwound while "
          "threads wait");
    }
    for (const events::FoundEvent& event : options_.events) {
      if (event.cgroup.empty()) continue;
      return absl::InvalidArgumentError(
          "--off-cpu cannot be used with -G or --for-each-cgroup, because it measures all recorded "
          "threads");
    }
    return absl::OkStatus();
  }

  // Checks the output if an option renames files, because streams and devices cannot be renamed. A
  // flight recorder writes its first file perhaps after days, so its directory is checked, too.
  absl::Status CheckOutput() const {
    if (options_.in_memory) return absl::OkStatus();
    const char* option = options_.flight               ? "--flight"
                         : options_.switch_output      ? "--switch-output"
                         : options_.timestamp_filename ? "--timestamp-filename"
                                                       : nullptr;
    if (option == nullptr) return absl::OkStatus();
    if (options_.output == "-") {
      return absl::InvalidArgumentError(absl::StrCat(
          option, " cannot be used with -o -, because a stream has no name; give -o FILE"));
    }
    if (AtomicFile::CanReplace(options_.output)) {
      return options_.flight ? CheckDirectory() : absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": ", options_.output, " is not a regular file; give another one with -o"));
  }

  absl::Status CheckDirectory() const {
    const std::filesystem::path parent = std::filesystem::path(options_.output).parent_path();
    const std::string directory = parent.empty() ? "." : parent.string();
    if (access(directory.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, absl::StrCat("--flight: cannot write files in ", directory),
                       "name another file with -o");
  }

  void MakeOffCpu() {
    if (setup_.plan.kernel_samples) {
      auto kernel = symbolize::KernelSymbols::Read(options_.roots.proc + "/kallsyms");
      if (kernel.ok()) setup_.kernel = *std::move(kernel);
    }
    setup_.unwinding->MakeOffCpu(
        {.sideband = perf_event::RecordLayout(setup_.plan.sideband.attr),
         .written = perf_event::RecordLayout(setup_.plan.off_cpu->written),
         .blocked_id = kBlockedId,
         .preempted_id = kPreemptedId,
         .least_duration = static_cast<uint64_t>(options_.off_cpu_threshold.count()),
         .keeps_switches = options_.switch_events,
         .begins_with_exec_of =
             setup_.begins_with_exec ? static_cast<uint32_t>(setup_.command->pid()) : 0,
         .scheduler = setup_.kernel.scheduler(),
         .unwinds = setup_.plan.unwinds});
  }

  // Returns the bytes per second of one CPU's samples with stack bytes; 0 if none carry them.
  uint64_t BytesPerSecond() const {
    uint64_t sum = 0;
    for (const PlannedEvent& event : setup_.plan.sampling) {
      if (event.attr.sample_stack_user == 0) continue;
      // An event with a period has an unknown rate; the frequency is used instead.
      const uint64_t rate =
          event.attr.has(perf_event::kAttrFreq) ? event.attr.sample_period : options_.frequency;
      sum += std::min<uint64_t>(rate, 1'000'000) * (event.attr.sample_stack_user + kBesideStack);
    }
    if (setup_.plan.off_cpu && !setup_.plan.off_cpu->switches.empty()) {
      const perf_event::Attr& attr = setup_.plan.off_cpu->switches.front().attr;
      if (attr.sample_stack_user != 0) {
        sum += kSwitchSampling[1].above * (attr.sample_stack_user + kBesideStack);
      }
    }
    return sum;
  }

  // Sets the watermark for wake-ups. The tables of virtual machines are read after the sample, so
  // the sooner we wake, the fewer of them have changed. The watermark of the event that owns the
  // ring decides when the kernel wakes us. By default, that is when the ring is half full.
  void WakeSoon(size_t ring_bytes, perf_event::Attr* sideband) const {
    const uint64_t times =
        options_.targets.system_wide ? kWakeUpsPerSecondOfAll : kWakeUpsPerSecond;
    const uint64_t soon = std::max<uint64_t>(BytesPerSecond() / times, 1);
    sideband->flags |= perf_event::kAttrWatermark;
    sideband->wakeup_events = static_cast<uint32_t>(std::min<uint64_t>(soon, ring_bytes / 2));
  }

  void NoteLimits(size_t wanted_pages, size_t page_size) {
    const size_t pages = setup_.events->ring_pages();
    if (pages < wanted_pages) {
      setup_.notes.push_back(absl::StrCat("rings of ", pages * page_size / 1024,
                                          " KiB per CPU instead of ",
                                          wanted_pages * page_size / 1024,
                                          " KiB, because this user may not lock more memory; `sudo "
                                          "sysctl kernel.perf_event_mlock_kb=",
                                          (wanted_pages + 1) * page_size / 1024, "` lifts that"));
    }
    if (const std::vector<int> offline = setup_.events->offline_cpus(); !offline.empty()) {
      setup_.notes.push_back(absl::StrCat("not recorded, because they went offline: CPU ",
                                          absl::StrJoin(offline, ",")));
    }
    // The kernel reports pid 0 for each thread that has no pid in this namespace.
    if (options_.targets.system_wide && procfs::IsInPidNamespace(options_.roots)) {
      setup_.notes.push_back(
          "profiler runs in a container, so threads outside of it have no ids; their samples count "
          "as swapper, without function names. Record outside of the container, or in `docker run "
          "--pid=host`");
    }
  }

  // Creates the file, beginning with what already runs.
  absl::Status WriteWhatRuns(const perf_event::RecordLayout& layout) {
    PROFILER_ASSIGN_OR_RETURN(procfs::Synthesizer synthesizer, Synthesize(layout));
    ringbuf::RingBytes bytes;
    bytes.spans[0] = synthesizer.records();
    PROFILER_RETURN_IF_ERROR(setup_.tally->Observe(bytes));
    if (setup_.unwinding != nullptr) {
      PROFILER_RETURN_IF_ERROR(setup_.unwinding->Observe(synthesizer.records()));
    }
    if (options_.flight) {
      setup_.what_runs.assign(synthesizer.records().begin(), synthesizer.records().end());
      return absl::OkStatus();
    }
    PROFILER_ASSIGN_OR_RETURN(
        setup_.file, RecordingFile::Begin(options_.output, *setup_.facts, synthesizer.records()));
    return absl::OkStatus();
  }

  absl::StatusOr<procfs::Synthesizer> Synthesize(const perf_event::RecordLayout& layout) {
    procfs::SynthesizerOptions how;
    how.roots = options_.roots;
    how.layout = layout;
    how.build_ids = setup_.plan.sideband.written.has(perf_event::kAttrBuildId);
    how.namespaces = setup_.plan.sideband.written.has(perf_event::kAttrNamespaces);
    how.modules_directory =
        "/lib/modules/" +
        procfs::ReadLine(options_.roots.proc + "/sys/kernel/osrelease").value_or("");
    procfs::Synthesizer synthesizer(std::move(how));
    if (setup_.plan.kernel_samples) {
      synthesizer.AddKernel();
      // The fake kernel of tests has no BPF programs.
      if (options_.roots.proc == procfs::Roots().proc) synthesizer.AddBpfPrograms();
    }
    if (setup_.plan.sideband.written.has(perf_event::kAttrCgroup)) {
      for (const target::CgroupPath& cgroup : target::ListCgroups(options_.roots)) {
        synthesizer.AddCgroup(cgroup.id, cgroup.path);
      }
    }
    if (options_.targets.system_wide) PROFILER_RETURN_IF_ERROR(synthesizer.AddAllProcesses());
    std::vector<pid_t> pids = options_.targets.pids;
    for (const pid_t tid : options_.targets.tids) {
      if (const auto pid = procfs::ProcessOf(options_.roots, tid); pid.ok()) pids.push_back(*pid);
    }
    for (const pid_t pid : pids) {
      const absl::Status added = synthesizer.AddProcess(pid);
      if (!added.ok() && !absl::IsNotFound(added)) return added;
    }
    if (const std::vector<pid_t>& cut = synthesizer.cut(); !cut.empty()) {
      setup_.notes.push_back(
          absl::StrCat("process ", cut.front(), cut.size() == 1 ? "" : " and others",
                       cut.size() == 1 ? " has" : " have",
                       " mapped too many executable files; code of some files has no names"));
    }
    return synthesizer;
  }

  // Lists the sampling events first: a record without an id belongs to a file's first event.
  std::vector<perf_data::EventToWrite> EventsToWrite() const {
    std::vector<perf_data::EventToWrite> events;
    for (const PlannedEvent& event : setup_.plan.sampling) {
      events.push_back({event.written, event.name, {}});
    }
    // The ids of context switches are added to the blocked event, because LOST records use them.
    const size_t blocked = events.size();
    if (setup_.plan.off_cpu) {
      const perf_event::Attr& written = setup_.plan.off_cpu->written;
      events.push_back({written, std::string(kBlockedEvent), {kBlockedId}});
      events.push_back({written, std::string(kPreemptedEvent), {kPreemptedId}});
    }
    events.push_back({setup_.plan.sideband.written, setup_.plan.sideband.name, {}});
    for (const ringbuf::EventSet::OpenedEvent& opened : setup_.events->events()) {
      const size_t event = opened.attr == 0 ? events.size() - 1 : opened.attr - 1;
      events[opened.attr == 0 ? event : std::min(event, blocked)].ids.push_back(opened.id);
    }
    for (perf_data::EventToWrite& event : events) {
      event.attr.size = perf_event::SmallestSize(event.attr);
    }
    return events;
  }

  ringbuf::Kernel& kernel_;
  RecordOptions options_;
  const procfs::PerfLimits limits_;
  std::vector<int> cpus_;
  size_t output_event_ = 0;  // index of the programs' records among the unwinding stage's events
  std::unique_ptr<reader::Readers> readers_;  // null once the unwinding stage has them
  SessionSetup setup_;
};

}  // namespace

absl::StatusOr<SessionSetup> SetUp(ringbuf::Kernel& kernel, const RecordOptions& options) {
  return SetupSteps(kernel, options).Run();
}

std::vector<uint64_t> SessionSetup::IdsOf(size_t event) const {
  std::vector<uint64_t> ids;
  for (const ringbuf::EventSet::OpenedEvent& opened : events->events()) {
    // Attr 0 is the sideband.
    if (opened.attr == event + 1) ids.push_back(opened.id);
  }
  return ids;
}

}  // namespace profiler::record
