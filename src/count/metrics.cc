#include "src/count/metrics.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/event_name.h"

namespace profiler::count {
namespace {

using perf_event::Attr;

constexpr double kPerSecond = 1e9;
constexpr uint64_t kLevels = perf_event::kAttrExcludeUser | perf_event::kAttrExcludeKernel;

// An event's ratio to another event, such as "branch-misses" to "branches".
struct Share {
  const char* name;  // name of the ratio for -M
  std::string_view part, whole;
  double factor;
  const char* unit;
};

constexpr Share kShares[] = {
    {"ipc", "instructions", "cycles", 1, "insn per cycle"},
    {"frontend-idle", "stalled-cycles-frontend", "cycles", 100, "% frontend cycles idle"},
    {"backend-idle", "stalled-cycles-backend", "cycles", 100, "% backend cycles idle"},
    {"branch-miss-rate", "branch-misses", "branches", 100, "% of all branches"},
    {"cache-miss-rate", "cache-misses", "cache-references", 100, "% of all cache refs"},
    {"l1d-miss-rate", "L1-dcache-load-misses", "L1-dcache-loads", 100,
     "% of all L1-dcache accesses"},
    {"l1i-miss-rate", "L1-icache-load-misses", "L1-icache-loads", 100,
     "% of all L1-icache accesses"},
    {"llc-miss-rate", "LLC-load-misses", "LLC-loads", 100, "% of all LL-cache accesses"},
    {"dtlb-miss-rate", "dTLB-load-misses", "dTLB-loads", 100, "% of all dTLB cache accesses"},
    {"itlb-miss-rate", "iTLB-load-misses", "iTLB-loads", 100, "% of all iTLB cache accesses"},
};

bool Counts(const Attr& attr, std::string_view name) {
  const auto known = perf_event::FindKnownEvent(name);
  constexpr uint64_t kWithoutPmu = 0xffffffff;
  return known && attr.type == known->type && (attr.config & kWithoutPmu) == known->config;
}

// Returns the count of the first event for which `is_wanted` is true. If `like` is not null, the
// event must count the same modes as `like`.
std::optional<double> CountOf(const std::vector<events::FoundEvent>& events, const CountRow& row,
                              const auto& is_wanted, const Attr* like) {
  for (size_t i = 0; i < events.size(); ++i) {
    const Attr& attr = events[i].attr;
    if (!is_wanted(attr) || row.counts[i].running == 0) continue;
    const bool same_modes = like == nullptr || (attr.flags & kLevels) == (like->flags & kLevels);
    const double count = row.counts[i].scaled();
    if (same_modes && count > 0) return count;
  }
  return std::nullopt;
}

// Returns a rate with its unit, such as 1.23 and "M/sec".
Metric Rate(double per_second) {
  if (per_second >= 1e9) return {per_second / 1e9, "G/sec"};
  if (per_second >= 1e6) return {per_second / 1e6, "M/sec"};
  if (per_second >= 1e3) return {per_second / 1e3, "K/sec"};
  return {per_second, "/sec"};
}

}  // namespace

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (const Share& share : kShares) names.emplace_back(share.name);
  return names;
}

absl::StatusOr<std::string> EventsOfMetric(const std::string& name) {
  for (const Share& share : kShares) {
    if (name == share.name) return absl::StrCat("{", View(share.part), ",", View(share.whole), "}");
  }
  return absl::NotFoundError(
      absl::StrCat("-M: unknown metric '", name, "': use ", absl::StrJoin(MetricNames(), ", ")));
}

bool IsClock(const Attr& attr) {
  return attr.type == perf_event::kTypeSoftware && attr.config <= 1;  // cpu-clock and task-clock
}

std::optional<Metric> MetricOf(const std::vector<events::FoundEvent>& events, const CountRow& row,
                               size_t event, std::chrono::nanoseconds duration) {
  const Attr& attr = events[event].attr;
  if (row.counts[event].running == 0) return std::nullopt;
  const double count = row.counts[event].scaled();
  if (IsClock(attr)) {
    if (duration.count() == 0) return std::nullopt;
    return Metric{count / static_cast<double>(duration.count()), "CPUs utilized"};
  }
  for (const Share& share : kShares) {
    if (!Counts(attr, share.part)) continue;
    const auto is_whole = [&](const Attr& other) { return Counts(other, share.whole); };
    const auto whole = CountOf(events, row, is_whole, &attr);
    if (whole) return Metric{share.factor * count / *whole, share.unit};
  }
  const auto nanoseconds = CountOf(events, row, IsClock, nullptr);
  if (!nanoseconds || !events[event].unit.empty()) return std::nullopt;
  if (Counts(attr, "cycles")) return Metric{count / *nanoseconds, "GHz"};
  return Rate(count / *nanoseconds * kPerSecond);
}

}  // namespace profiler::count
