#include "src/format/perf_event/event_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

struct NamedEvent {
  uint32_t type;
  uint64_t config;
  std::string_view name;
};

// An event with several entries is shown under its first name.
constexpr NamedEvent kEvents[] = {
    {kTypeHardware, 0, "cycles"},
    {kTypeHardware, 0, "cpu-cycles"},
    {kTypeHardware, 1, "instructions"},
    {kTypeHardware, 2, "cache-references"},
    {kTypeHardware, 3, "cache-misses"},
    {kTypeHardware, 4, "branches"},
    {kTypeHardware, 4, "branch-instructions"},
    {kTypeHardware, 5, "branch-misses"},
    {kTypeHardware, 6, "bus-cycles"},
    {kTypeHardware, 7, "stalled-cycles-frontend"},
    {kTypeHardware, 7, "idle-cycles-frontend"},
    {kTypeHardware, 8, "stalled-cycles-backend"},
    {kTypeHardware, 8, "idle-cycles-backend"},
    {kTypeHardware, 9, "ref-cycles"},
    {kTypeSoftware, 0, "cpu-clock"},
    {kTypeSoftware, 1, "task-clock"},
    {kTypeSoftware, 2, "page-faults"},
    {kTypeSoftware, 2, "faults"},
    {kTypeSoftware, 3, "context-switches"},
    {kTypeSoftware, 3, "cs"},
    {kTypeSoftware, 4, "cpu-migrations"},
    {kTypeSoftware, 4, "migrations"},
    {kTypeSoftware, 5, "minor-faults"},
    {kTypeSoftware, 6, "major-faults"},
    {kTypeSoftware, 7, "alignment-faults"},
    {kTypeSoftware, 8, "emulation-faults"},
    {kTypeSoftware, 9, "dummy"},
    {kTypeSoftware, 10, "bpf-output"},
    {kTypeSoftware, 11, "cgroup-switches"},
};

// HW_CACHE: config = cache | operation << 8 | result << 16
constexpr std::string_view kCaches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                        "iTLB",      "branch",    "node"};
constexpr std::string_view kOperations[] = {"load", "store", "prefetch"};
constexpr std::string_view kAccesses[] = {"loads", "stores", "prefetches"};

std::string CacheEventName(size_t cache, size_t operation, bool miss) {
  const std::string_view accesses = kAccesses[operation], access = kOperations[operation];
  return miss ? absl::StrFormat("%s-%s-misses", kCaches[cache], access)
              : absl::StrFormat("%s-%s", kCaches[cache], accesses);
}

std::optional<std::string> CacheEventName(uint64_t config) {
  const uint64_t cache = config & 0xff, operation = (config >> 8) & 0xff, result = config >> 16;
  if (cache >= std::size(kCaches) || operation >= std::size(kOperations) || result > 1) {
    return std::nullopt;
  }
  return CacheEventName(cache, operation, result == 1);
}

std::optional<uint64_t> CacheEventConfig(std::string_view name) {
  for (uint64_t cache = 0; cache < std::size(kCaches); ++cache) {
    if (!absl::StartsWithIgnoreCase(View(name), View(kCaches[cache]))) continue;
    for (uint64_t operation = 0; operation < std::size(kOperations); ++operation) {
      for (uint64_t miss : {0, 1}) {
        if (absl::EqualsIgnoreCase(View(name), CacheEventName(cache, operation, miss != 0))) {
          return cache | operation << 8 | miss << 16;
        }
      }
    }
  }
  return std::nullopt;
}

std::string BreakpointName(const Attr& attr) {
  std::string name = absl::StrFormat("mem:%#x", attr.config1);
  if (attr.config2 != 0) absl::StrAppend(&name, "/", attr.config2);
  name += ':';
  for (const auto& [letter, bit] : kBreakpointAccesses) {
    if (attr.bp_type & bit) name += letter;
  }
  return name;
}

// Returns the event's name without modifiers.
std::string BareName(const Attr& attr) {
  // The upper half of config selects a PMU on machines with several kinds of CPU.
  const uint64_t config = attr.config & 0xffffffff;
  switch (attr.type) {
    case kTypeHardware:
    case kTypeSoftware:
      for (const NamedEvent& event : kEvents) {
        if (event.type == attr.type && event.config == config) return std::string(event.name);
      }
      break;
    case kTypeTracepoint:
      return absl::StrCat("tracepoint:", attr.config);
    case kTypeHwCache:
      if (auto name = CacheEventName(config)) return *name;
      break;
    case kTypeRaw:
      return absl::StrFormat("raw 0x%x", attr.config);
    case kTypeBreakpoint:
      return BreakpointName(attr);
    default:
      break;
  }
  return absl::StrFormat("pmu%d:%#x", attr.type, attr.config);
}

// Returns the modifiers that perf 7.2 prints, like evsel__add_modifiers() of
// tools/perf/util/evsel.c, Linux 6.13 to 7.2. This also holds for streams of perf 3.2 to 4.14,
// whose events count only the host: "cycles:H". Older perfs treated exclude_guest as the default of
// an event without other modifiers, and omitted the H.
std::string Modifiers(const Attr& attr) {
  std::string letters;
  if (attr.has(kAttrExcludeKernel) || attr.has(kAttrExcludeUser) || attr.has(kAttrExcludeHv)) {
    if (!attr.has(kAttrExcludeKernel)) letters += 'k';
    if (!attr.has(kAttrExcludeUser)) letters += 'u';
    if (!attr.has(kAttrExcludeHv)) letters += 'h';
  }
  letters.append((attr.flags & kAttrPreciseIpMask) >> kAttrPreciseIpShift, 'p');
  if (attr.has(kAttrExcludeHost) || attr.has(kAttrExcludeGuest)) {
    if (!attr.has(kAttrExcludeHost)) letters += 'H';
    if (!attr.has(kAttrExcludeGuest)) letters += 'G';
  }
  return letters;
}

}  // namespace

std::string EventName(const Attr& attr) {
  std::string name = BareName(attr);
  const std::string modifiers = Modifiers(attr);
  if (!modifiers.empty()) absl::StrAppend(&name, ":", modifiers);
  return name;
}

bool IsDummy(const Attr& attr) {
  constexpr uint64_t kSoftwareDummy = 9;
  return attr.type == kTypeSoftware && attr.config == kSoftwareDummy;
}

std::optional<Attr> FindKnownEvent(std::string_view name) {
  for (const NamedEvent& event : kEvents) {
    if (absl::EqualsIgnoreCase(View(event.name), View(name)))
      return Attr{.type = event.type, .config = event.config};
  }
  if (const auto config = CacheEventConfig(name)) {
    return Attr{.type = kTypeHwCache, .config = *config};
  }
  return std::nullopt;
}

std::vector<std::string_view> KnownEventNames() {
  std::vector<std::string_view> names;
  for (const NamedEvent& event : kEvents) names.push_back(event.name);
  return names;
}

std::vector<std::string> CacheEventNames() {
  std::vector<std::string> names;
  for (size_t cache = 0; cache < std::size(kCaches); ++cache) {
    for (size_t operation = 0; operation < std::size(kOperations); ++operation) {
      for (const bool miss : {false, true}) {
        names.push_back(CacheEventName(cache, operation, miss));
      }
    }
  }
  return names;
}

}  // namespace profiler::perf_event
