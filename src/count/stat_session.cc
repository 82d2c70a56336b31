#include "src/count/stat_session.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/procfs/tasks.h"
#include "src/machine/target/cgroup.h"
#include "src/machine/target/refusal.h"
#include "src/machine/target/run_watch.h"

namespace profiler::count {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

std::chrono::microseconds Microseconds(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// The CPU time of all children that this process has waited for so far.
struct ChildTime {
  std::chrono::microseconds user, system;

  static ChildTime Now() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return {Microseconds(usage.ru_utime), Microseconds(usage.ru_stime)};
  }
};

// The places of the counters, and the row of each place.
struct Places {
  std::vector<CounterPlace> places;
  std::vector<size_t> row_of;  // row of each place
  std::vector<CountRow> rows;  // the rows, still without counts

  void Add(CounterPlace place, const std::string& row) {
    auto found = std::find_if(rows.begin(), rows.end(),
                              [&](const CountRow& known) { return known.name == row; });
    if (found == rows.end()) found = rows.insert(rows.end(), CountRow{.name = row});
    ++found->places;
    places.push_back(place);
    row_of.push_back(static_cast<size_t>(found - rows.begin()));
  }
};

// One count: it covers one run of the command, or the time for which other targets are counted.
class Counting {
 public:
  // `control` is null if no other program controls the count.
  Counting(ringbuf::Kernel& kernel, const StatOptions& options, target::Control* control,
           StatResult& result, const IntervalSink& on_interval)
      : kernel_(kernel),
        options_(options),
        control_(control),
        result_(result),
        on_interval_(on_interval),
        watch_(io_, [this](target::RunEnd reason) { End(reason); }),
        begin_timer_(io_),
        end_timer_(io_),
        interval_timer_(io_) {}

  absl::Status Run() {
    if (!options_.targets.command.empty()) {
      PROFILER_ASSIGN_OR_RETURN(command_, target::Command::Fork(options_.targets.command, false));
    }
    counts_command_ = options_.targets.is_command_alone();
    result_.counts_command = counts_command_;
    PROFILER_RETURN_IF_ERROR(Open());
    PROFILER_RETURN_IF_ERROR(watch_.WatchSignals());
    PROFILER_RETURN_IF_ERROR(watch_.WatchEnd(command_.get(), options_.targets));
    if (control_ != nullptr) PROFILER_RETURN_IF_ERROR(WatchControl());
    const ChildTime before = ChildTime::Now();
    began_ = steady_clock::now();
    PROFILER_RETURN_IF_ERROR(Begin());
    io_.run();
    PROFILER_RETURN_IF_ERROR(failure_);
    PROFILER_RETURN_IF_ERROR(EndCommand());
    const auto duration = steady_clock::now() - began_;
    PROFILER_RETURN_IF_ERROR(counters_->Disable());
    PROFILER_ASSIGN_OR_RETURN(const std::vector<Count> counts, counters_->Read());
    if (options_.interval.count() > 0 && !intervals_are_over_) EndInterval(counts);
    StatRun run{.total = TableOf(counts, duration, duration)};
    const ChildTime after = ChildTime::Now();
    run.user_time = after.user - before.user;
    run.system_time = after.system - before.system;
    result_.runs.push_back(std::move(run));
    return absl::OkStatus();
  }

 private:
  absl::Status Open() {
    PROFILER_RETURN_IF_ERROR(FindPlaces());
    std::vector<std::string> cgroup_names;
    for (const events::FoundEvent& event : options_.events) cgroup_names.push_back(event.cgroup);
    PROFILER_ASSIGN_OR_RETURN(
        const std::vector<UniqueFd> cgroups,
        target::OpenCgroups(options_.roots, cgroup_names, options_.targets.system_wide));
    std::vector<CounterEvent> counters;
    for (const events::FoundEvent& event : options_.events) {
      CounterEvent& counter = counters.emplace_back();
      counter.cgroup = cgroups[counters.size() - 1].get();
      counter.attr = ToCounterAttr(event);
      counter.leader = event.leader;
      counter.weak = event.weak;
      counter.cpus = event.cpus;
      counter.filter = event.filter;
    }
    auto opened = CounterSet::Open(kernel_, std::move(counters), places_.places);
    if (!opened.ok()) return Explained(opened.status());
    counters_ = *std::move(opened);
    result_.supported.clear();
    result_.excludes_kernel.clear();
    for (size_t event = 0; event < options_.events.size(); ++event) {
      result_.supported.push_back(counters_->is_supported(event));
      result_.excludes_kernel.push_back(counters_->excludes_kernel(event));
    }
    before_.resize(options_.events.size() * places_.places.size());
    return absl::OkStatus();
  }

  absl::Status Explained(const absl::Status& status) const {
    const int error = ErrnoOf(status);
    if (error == EINVAL) {
      return absl::InvalidArgumentError(
          "the kernel refuses an event with these options (EINVAL): a group may be too large for "
          "the CPU's counters (:W gives it up then), or its PMU may count whole CPUs alone (-a)");
    }
    if (error != EACCES && error != EPERM) return status;
    const pid_t other = options_.targets.pids.empty() ? 0 : options_.targets.pids.front();
    return target::ExplainRefusal(
        error, "counting", options_.events.front().name,
        {.system_wide = options_.targets.system_wide, .other_process = other},
        procfs::ReadPerfLimits(options_.roots));
  }

  absl::Status FindPlaces() {
    if (counts_command_) {
      places_.Add({.tid = command_->pid()}, "");
      return absl::OkStatus();
    }
    if (options_.targets.system_wide) {
      PROFILER_ASSIGN_OR_RETURN(const std::vector<int> cpus,
                                target::ChooseCpus(options_.roots, options_.targets));
      for (const int cpu : cpus) {
        places_.Add({.cpu = cpu}, PlaceName(options_.roots, options_.aggregation, cpu));
      }
      return absl::OkStatus();
    }
    PROFILER_ASSIGN_OR_RETURN(const auto threads,
                              target::FindThreads(options_.roots, options_.targets));
    for (const auto& [pid, tid] : threads) {
      std::string row;
      if (options_.aggregation == Aggregation::kThread) {
        row = absl::StrCat(procfs::CommOf(options_.roots, pid, tid).value_or("?"), "-", tid);
      }
      places_.Add({.tid = tid}, row);
    }
    return absl::OkStatus();
  }

  perf_event_attr ToCounterAttr(const events::FoundEvent& event) const {
    perf_event::Attr attr = event.attr;
    attr.flags |= perf_event::kAttrDisabled;
    const bool inherits = options_.inherit && event.terms.inherit != false;
    if (inherits && !options_.targets.system_wide) attr.flags |= perf_event::kAttrInherit;
    if (counts_command_ && !options_.starts_disabled && options_.delay.count() == 0) {
      attr.flags |= perf_event::kAttrEnableOnExec;
    }
    return perf_event::ToKernelAttr(attr);
  }

  void End(target::RunEnd reason) {
    if (reason == target::RunEnd::kSignal) result_.interrupted = true;
    if (reason == target::RunEnd::kRequested) result_.stopped = true;
    io_.stop();
  }

  absl::Status WatchControl() {
    return watch_.WatchControl(
        *control_,
        {.enable = [this] { return !Failed(counters_->Enable()); },
         .disable = [this] { return !Failed(counters_->Disable()); },
         .on_unknown = [this](std::string_view message) { result_.notes.emplace_back(message); }});
  }

  absl::Status Begin() {
    const bool waits = options_.delay.count() > 0;
    if (!waits && !counts_command_ && !options_.starts_disabled) {
      PROFILER_RETURN_IF_ERROR(counters_->Enable());
    }
    if (command_ != nullptr) PROFILER_RETURN_IF_ERROR(command_->Start());
    if (!waits) {
      StartTimers();
      return absl::OkStatus();
    }
    After(begin_timer_, options_.delay, [this] {
      if (Failed(counters_->Enable())) return;
      began_ = steady_clock::now();
      StartTimers();
    });
    return absl::OkStatus();
  }

  void StartTimers() {
    interval_began_ = steady_clock::now();
    if (options_.timeout) After(end_timer_, *options_.timeout, [this] { io_.stop(); });
    if (options_.interval.count() > 0) NextInterval();
  }

  void NextInterval() {
    After(interval_timer_, options_.interval, [this] {
      const auto counts = counters_->Read();
      if (Failed(counts.status())) return;
      EndInterval(*counts);
      if (++intervals_ == options_.interval_count) {
        intervals_are_over_ = true;
        io_.stop();
      } else {
        NextInterval();
      }
    });
  }

  void EndInterval(const std::vector<Count>& counts) {
    const auto now = steady_clock::now();
    std::vector<Count> differences;
    for (size_t i = 0; i < counts.size(); ++i) differences.push_back(counts[i] - before_[i]);
    before_ = counts;
    on_interval_(result_, TableOf(differences, now - began_, now - interval_began_));
    interval_began_ = now;
  }

  template <class Handler>
  static void After(boost::asio::steady_timer& timer, std::chrono::milliseconds time,
                    Handler handler) {
    timer.expires_after(time);
    timer.async_wait([handler](const error_code& failed) {
      if (!failed) handler();
    });
  }

  bool Failed(const absl::Status& status) {
    if (status.ok()) return false;
    failure_ = status;
    io_.stop();
    return true;
  }

  // Ends a command that outlives the count. But if a signal interrupted the count, waits until the
  // command ends by itself.
  absl::Status EndCommand() {
    if (command_ == nullptr) return absl::OkStatus();
    if (!result_.interrupted) command_->AskToEnd();
    PROFILER_ASSIGN_OR_RETURN(result_.command, command_->Reap());
    return absl::OkStatus();
  }

  CountTable TableOf(const std::vector<Count>& counts, std::chrono::nanoseconds end,
                     std::chrono::nanoseconds duration) const {
    CountTable table{.end = end, .duration = duration, .rows = places_.rows};
    const size_t places = places_.places.size();
    for (CountRow& row : table.rows) row.counts.resize(options_.events.size());
    for (size_t i = 0; i < counts.size(); ++i) {
      table.rows[places_.row_of[i % places]].counts[i / places] += counts[i];
    }
    return table;
  }

  ringbuf::Kernel& kernel_;
  const StatOptions& options_;
  target::Control* const control_;
  StatResult& result_;
  const IntervalSink& on_interval_;
  boost::asio::io_context io_{1};
  std::unique_ptr<target::Command> command_;
  bool counts_command_ = false;
  Places places_;
  std::unique_ptr<CounterSet> counters_;
  std::vector<Count> before_;  // counts at the end of the last interval
  target::RunWatch watch_;
  boost::asio::steady_timer begin_timer_, end_timer_, interval_timer_;
  steady_clock::time_point began_, interval_began_;
  uint32_t intervals_ = 0;
  bool intervals_are_over_ = false;
  absl::Status failure_;
};

absl::Status CheckOptions(const StatOptions& options) {
  const target::Targets& targets = options.targets;
  PROFILER_RETURN_IF_ERROR(target::CheckTargets(targets, "count"));
  const bool by_cpu =
      options.aggregation != Aggregation::kAll && options.aggregation != Aggregation::kThread;
  if (by_cpu && !targets.system_wide) {
    return absl::InvalidArgumentError("counts by CPU are those of the whole system: add -a");
  }
  if (options.aggregation == Aggregation::kThread && !targets.has_threads()) {
    return absl::InvalidArgumentError("--per-thread: name processes (-p) or threads (-t)");
  }
  if (options.starts_disabled && !options.control) {
    return absl::InvalidArgumentError("-D -1: nobody could begin: add --control");
  }
  if (options.repeat == 0) return absl::InvalidArgumentError("-r: once at least");
  if (options.repeat > 1 && targets.command.empty()) {
    return absl::InvalidArgumentError("-r: a command can be run again, nothing else");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StatResult> RunStat(ringbuf::Kernel& kernel, const StatOptions& options,
                                   const IntervalSink& on_interval) {
  PROFILER_RETURN_IF_ERROR(CheckOptions(options));
  StatResult result;
  if (options.inherit && !options.targets.system_wide) {
    if (std::string note = events::NoteOnInheritance(options.events); !note.empty()) {
      result.notes.push_back(std::move(note));
    }
  }
  std::unique_ptr<target::Control> control;
  if (options.control) {
    PROFILER_ASSIGN_OR_RETURN(control, target::Control::Open(*options.control));
  }
  try {
    while (result.runs.size() < options.repeat && !result.interrupted && !result.stopped) {
      PROFILER_RETURN_IF_ERROR(Counting(kernel, options, control.get(), result, on_interval).Run());
    }
  } catch (const boost::system::system_error& error) {
    return ErrnoStatus(error.code().value(), "starting the event loop");
  }
  return result;
}

}  // namespace profiler::count
