#include "src/record/flight_watch.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/clock.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::record {
namespace {

using Kind = FlightTrigger::Kind;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{200};

// Returns the CPU time of all CPUs, divided by their number.
std::optional<nanoseconds> TimeOfMachine(const procfs::Roots& roots) {
  std::string text;
  if (!procfs::ReadFile(roots.proc + "/stat", &text).ok()) return std::nullopt;
  procfs::TextScanner lines(text);
  procfs::TextScanner fields(lines.Until('\n'));
  fields.Word();  // "cpu"
  int64_t busy = 0;
  // user nice system idle iowait irq softirq steal
  for (size_t i = 0; i < 8; ++i) {
    const int64_t ticks = procfs::ParseNumber<int64_t>(fields.Word()).value_or(0);
    if (i != 3 && i != 4) busy += ticks;
  }
  int64_t cpus = 0;
  while (lines.Until('\n').starts_with("cpu")) ++cpus;
  return ClockTicks(busy) / std::max<int64_t>(cpus, 1);
}

// Returns the time during which at least one task waited for the resource.
std::optional<nanoseconds> PressureOf(const procfs::Roots& roots, const std::string& resource) {
  const auto line = procfs::ReadLine(absl::StrCat(roots.proc, "/pressure/", resource));
  if (!line) return std::nullopt;
  constexpr std::string_view kTotal = "total=";
  const size_t total = line->find(kTotal);
  if (total == std::string::npos) return std::nullopt;
  const auto microseconds =
      procfs::ParseNumber<int64_t>(std::string_view(*line).substr(total + kTotal.size()));
  if (!microseconds) return std::nullopt;
  return std::chrono::microseconds(*microseconds);
}

}  // namespace

std::optional<double> ShareOfSecond::Take(steady_clock::time_point now, nanoseconds whole) {
  constexpr std::chrono::seconds kSecond{1};
  entries_.push_back({now, whole});
  // Keeps one entry that is a second old.
  while (entries_.size() > 1 && now - entries_[1].when >= kSecond) entries_.pop_front();
  const Entry& first = entries_.front();
  if (now - first.when < kSecond) return std::nullopt;
  // The time of a process that has ended is missing.
  if (whole < first.whole) return std::nullopt;
  constexpr double kPercent = 100;
  return kPercent * static_cast<double>((whole - first.whole).count()) /
         static_cast<double>(nanoseconds(now - first.when).count());
}

FlightWatch::FlightWatch(boost::asio::io_context& io, procfs::Roots roots,
                         std::vector<FlightTrigger> triggers, Listener on_trigger)
    : roots_(std::move(roots)), on_trigger_(std::move(on_trigger)), process_ends_(io), timer_(io) {
  for (FlightTrigger& trigger : triggers) {
    switch (trigger.kind) {
      case Kind::kExit:
      case Kind::kSignal:
        ends_.push_back(std::move(trigger));
        break;
      case Kind::kCpuAbove:
      case Kind::kCpuBelow:
      case Kind::kPressure:
        // A program that is idle from the beginning does not go below a limit.
        levels_.push_back(
            {.trigger = trigger, .share = {}, .was_reached = trigger.kind == Kind::kCpuBelow});
        break;
      case Kind::kBlocked:
      case Kind::kEvent:
        break;
    }
  }
}

absl::Status FlightWatch::Start(const std::vector<pid_t>& pids, pid_t command,
                                std::vector<std::string>* notes) {
  pids_ = pids;
  if (!ends_.empty()) {
    const absl::Status watched =
        process_ends_.Watch(pids, [this](const ProcessEnd& end) { TakeEnd(end); });
    const std::string option = absl::StrCat("--flight-on ", ends_.front().text, ": ");
    if (!watched.ok() && command == 0) {
      const std::string what = option + "cannot watch the ends of processes";
      if (ErrnoOf(watched) == ETIMEDOUT) {
        return absl::UnimplementedError(
            absl::StrCat(what,
                         ", because the kernel does not report them here; run outside of "
                         "containers, with CONFIG_PROC_EVENTS, or record a command"));
      }
      return ErrnoStatus(ErrnoOf(watched), what, "run as root, or record a command");
    }
    // Our own child needs no right.
    if (!watched.ok()) {
      notes->push_back(
          absl::StrCat(option,
                       "only the end of the command itself can be seen, not of "
                       "processes that it starts; run as root, outside of containers"));
    }
  }
  for (const Level& level : levels_) {
    if (WholeTime(level.trigger)) continue;
    const bool is_pressure = level.trigger.kind == Kind::kPressure;
    return absl::UnimplementedError(absl::StrCat(
        "--flight-on ", level.trigger.text,
        is_pressure ? ": the kernel does not measure pressure; boot it with psi=1, or choose "
                      "another trigger"
                    : absl::StrCat(": cannot read ", roots_.proc, "/stat; mount /proc")));
  }
  if (!levels_.empty()) Poll();
  return absl::OkStatus();
}

void FlightWatch::Stop() {
  process_ends_.TakePending();
  timer_.cancel();
}

// ---- ends of processes

void FlightWatch::TakeEnd(const ProcessEnd& end) {
  for (const FlightTrigger& trigger : ends_) {
    const bool is_signal = trigger.kind == Kind::kSignal;
    if (is_signal != (end.signal != 0)) continue;
    const int number = is_signal ? end.signal : end.code;
    const bool fits = trigger.number < 0 ? number != 0 : number == trigger.number;
    if (!fits) continue;
    const auto name = procfs::CommOf(roots_, end.pid, end.pid);
    return on_trigger_(
        trigger, absl::StrCat("process ", end.pid, name.ok() ? absl::StrCat(" (", *name, ")") : "",
                              " ended by ", is_signal ? "signal " : "exit code ", number));
  }
}

// ---- CPU use and pressure

void FlightWatch::Poll() {
  const auto now = steady_clock::now();
  for (Level& level : levels_) {
    const FlightTrigger& trigger = level.trigger;
    const auto whole = WholeTime(trigger);
    if (!whole) continue;
    const auto share = level.share.Take(now, *whole);
    if (!share) continue;
    const bool is_reached =
        trigger.kind == Kind::kCpuBelow ? *share < trigger.percent : *share > trigger.percent;
    // A level that stays is one event.
    const bool is_new = is_reached && !level.was_reached;
    level.was_reached = is_reached;
    if (is_new) on_trigger_(trigger, absl::StrFormat("%s (%.0f %%)", trigger.text, *share));
  }
  timer_.expires_after(kPollInterval);
  timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) Poll();
  });
}

std::optional<nanoseconds> FlightWatch::WholeTime(const FlightTrigger& trigger) const {
  if (trigger.kind == Kind::kPressure) return PressureOf(roots_, trigger.name);
  if (pids_.empty()) return TimeOfMachine(roots_);
  nanoseconds sum{0};
  for (const pid_t pid : pids_) sum += CpuTimeOf(pid, 0);
  return sum;
}

// Returns the CPU time of a process, of its children, and of the children that have ended.
nanoseconds FlightWatch::CpuTimeOf(pid_t pid, int depth) const {
  constexpr int kDeepest = 16;
  constexpr size_t kMostThreads = 64;
  const std::string process = absl::StrCat(roots_.proc, "/", pid);
  if (depth > kDeepest) return {};
  const procfs::ProcessTimes times = procfs::TimesOf(process);
  nanoseconds sum = times.own + times.ended_children;
  const auto threads = procfs::ThreadIds(roots_, pid);
  if (!threads.ok()) return sum;
  // The children of a thread are in a file of its own.
  for (size_t i = 0; i < std::min(threads->size(), kMostThreads); ++i) {
    std::string children;
    if (!procfs::ReadFile(absl::StrCat(process, "/task/", (*threads)[i], "/children"), &children)
             .ok()) {
      continue;
    }
    procfs::TextScanner words(children);
    while (const auto child = procfs::ParseNumber<pid_t>(words.Word())) {
      sum += CpuTimeOf(*child, depth + 1);
    }
  }
  return sum;
}

}  // namespace profiler::record
