#include "src/machine/events/list_events.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/event_name.h"
#include "src/machine/events/pmu.h"
#include "src/machine/events/tracepoints.h"

namespace profiler::events {
namespace {

constexpr char kHardware[] = "hardware";
constexpr char kSoftware[] = "software";
constexpr char kCache[] = "cache";
constexpr char kPmu[] = "PMU";
constexpr char kTracepoint[] = "tracepoint";
constexpr char kStaticProbe[] = "static probe";

constexpr std::pair<std::string_view, const char*> kShortKinds[] = {
    {"hw", kHardware}, {"hardware", kHardware}, {"sw", kSoftware}, {"software", kSoftware},
    {"cache", kCache}, {"hwcache", kCache},     {"pmu", kPmu},     {"tracepoint", kTracepoint}};

constexpr std::pair<std::string_view, const char*> kDescriptions[] = {
    {"cycles", "CPU cycles, except while the CPU is halted"},
    {"instructions", "retired instructions"},
    {"cache-references", "accesses to the last-level cache"},
    {"cache-misses", "misses of the last-level cache"},
    {"branches", "retired branch instructions"},
    {"branch-misses", "mispredicted branches"},
    {"bus-cycles", "bus cycles"},
    {"stalled-cycles-frontend", "cycles in which the frontend delivers no instruction"},
    {"stalled-cycles-backend", "cycles in which the backend accepts no instruction"},
    {"ref-cycles", "CPU cycles at the nominal frequency"},
    {"cpu-clock", "CPU time, in nanoseconds, per CPU"},
    {"task-clock", "CPU time of the thread, in nanoseconds"},
    {"page-faults", "page faults"},
    {"context-switches", "switches from one thread to another"},
    {"cpu-migrations", "thread migrations between CPUs"},
    {"minor-faults", "page faults without disk access"},
    {"major-faults", "page faults that read from disk"},
    {"alignment-faults", "unaligned accesses that the kernel splits"},
    {"emulation-faults", "instructions that the kernel emulates"},
    {"dummy", "counts nothing; records mappings, forks and exits"},
    {"bpf-output", "output of BPF programs"},
    {"cgroup-switches", "switches from one cgroup to another"},
};

std::string DescriptionOf(std::string_view name) {
  for (const auto& [known, description] : kDescriptions) {
    if (known == name) return description;
  }
  return "";
}

class Lister {
 public:
  Lister(const procfs::Roots& roots, const std::string& pattern)
      : roots_(roots), pattern_(pattern) {
    for (const auto& [short_name, kind] : kShortKinds) {
      if (pattern == short_name) only_kind_ = kind;
    }
  }

  std::vector<ListedEvent> List(std::string* note) {
    for (const std::string_view name : perf_event::KnownEventNames()) {
      const uint32_t type = perf_event::FindKnownEvent(name)->type;
      // An alias is described by the event that it stands for.
      const std::string canonical = perf_event::EventName(*perf_event::FindKnownEvent(name));
      const bool is_alias = canonical != name;
      Add(std::string(name), type == perf_event::kTypeHardware ? kHardware : kSoftware,
          is_alias ? "alias of " + canonical : DescriptionOf(name));
    }
    for (const std::string& name : perf_event::CacheEventNames()) Add(name, kCache, "");
    for (const Pmu& pmu : ReadPmus(roots_)) {
      for (const std::string& alias : pmu.AliasNames()) {
        const auto found = pmu.FindAlias(alias);
        Add(absl::StrCat(pmu.name, "/", alias, "/"), kPmu, found ? found->terms : "");
      }
    }
    AddTracepoints(note);
    return std::move(events_);
  }

 private:
  void Add(std::string name, const char* kind, std::string description) {
    const bool fits = only_kind_ != nullptr ? std::string_view(kind) == only_kind_
                                            : pattern_.empty() || Fits(name);
    if (fits) events_.push_back({std::move(name), kind, std::move(description)});
  }

  // As in perf, a pattern may also match only a part of the name.
  bool Fits(const std::string& name) const {
    return fnmatch(pattern_.c_str(), name.c_str(), 0) == 0 ||
           fnmatch(("*" + pattern_ + "*").c_str(), name.c_str(), 0) == 0;
  }

  void AddTracepoints(std::string* note) {
    const auto tracepoints = FindTracepoints(roots_, "*", "*");
    if (!tracepoints.ok()) {
      *note = std::string(tracepoints.status().message());
      return;
    }
    for (const Tracepoint& tracepoint : *tracepoints) {
      Add(tracepoint.full_name(), kTracepoint, "");
    }
  }

  const procfs::Roots& roots_;
  const std::string& pattern_;
  const char* only_kind_ = nullptr;
  std::vector<ListedEvent> events_;
};

}  // namespace

std::vector<ListedEvent> ListStaticProbes(const std::vector<StaticProbePlace>& places) {
  std::vector<ListedEvent> events;
  for (const StaticProbePlace& place : places) {
    std::string name = absl::StrCat(place.path, ":%", place.provider, ":", place.name);
    std::string arguments =
        place.arguments.empty() ? "" : absl::StrCat("arguments ", Printable(place.arguments));
    events.push_back({Printable(name), kStaticProbe, std::move(arguments)});
  }
  const auto has_same_name = [](const ListedEvent& a, const ListedEvent& b) {
    return a.name == b.name;
  };
  std::ranges::sort(events, {}, &ListedEvent::name);
  const auto repeated = std::ranges::unique(events, has_same_name);
  events.erase(repeated.begin(), repeated.end());
  return events;
}

std::vector<ListedEvent> ListEvents(const procfs::Roots& roots, const std::string& pattern,
                                    std::string* note) {
  return Lister(roots, pattern).List(note);
}

}  // namespace profiler::events
