#include "src/perf_data/event_name.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using perf_event::Attr;

// PERF_COUNT_HW_*, PERF_COUNT_SW_*: the index is config.
constexpr std::array<std::string_view, 10> kHardware = {
    "cycles",        "instructions", "cache-references",        "cache-misses",
    "branches",      "branch-misses", "bus-cycles",             "stalled-cycles-frontend",
    "stalled-cycles-backend", "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftware = {
    "cpu-clock",    "task-clock",       "page-faults",      "context-switches",
    "cpu-migrations", "minor-faults",   "major-faults",     "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",       "cgroup-switches"};

// config of HW_CACHE: cache | operation << 8 | result << 16
constexpr std::array<std::string_view, 7> kCache = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                    "iTLB",      "branch",    "node"};
constexpr std::array<std::string_view, 3> kOperation = {"load", "store", "prefetch"};
constexpr std::array<std::string_view, 3> kOperations = {"loads", "stores", "prefetches"};

// The upper half of config tells hybrid PMUs apart.
constexpr uint64_t kConfigMask = 0xffffffff;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

std::string CacheName(uint64_t config) {
  const uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;
  if (cache >= kCache.size() || operation >= kOperation.size() || result > 1) {
    return absl::StrCat("cache 0x", absl::Hex(config));
  }
  if (result == 1) {
    return absl::StrCat(View(kCache[cache]), "-", View(kOperation[operation]), "-misses");
  }
  return absl::StrCat(View(kCache[cache]), "-", View(kOperations[operation]));
}

std::string BreakpointName(const Attr& attr) {
  std::string name = absl::StrCat("mem:0x", absl::Hex(attr.config1), ":");
  if (attr.bp_type & 1) name += 'r';
  if (attr.bp_type & 2) name += 'w';
  if (attr.bp_type & 4) name += 'x';
  return name;
}

std::string BaseName(const Attr& attr) {
  const uint64_t index = attr.config & kConfigMask;
  switch (attr.type) {
    case perf_event::kTypeHardware:
      if (index < kHardware.size()) return std::string(kHardware[index]);
      return absl::StrCat("hardware 0x", absl::Hex(attr.config));
    case perf_event::kTypeSoftware:
      if (index < kSoftware.size()) return std::string(kSoftware[index]);
      return absl::StrCat("software 0x", absl::Hex(attr.config));
    case perf_event::kTypeTracepoint:
      return absl::StrCat("tracepoint ", attr.config);
    case perf_event::kTypeHwCache:
      return CacheName(index);
    case perf_event::kTypeRaw:
      return absl::StrCat("raw 0x", absl::Hex(attr.config));
    case perf_event::kTypeBreakpoint:
      return BreakpointName(attr);
    default:
      return absl::StrCat("pmu ", attr.type, "/config=0x", absl::Hex(attr.config), "/");
  }
}

}  // namespace

std::string EventName(const Attr& attr) {
  std::string modifiers;
  const bool no_user = attr.has(perf_event::kAttrExcludeUser);
  const bool no_kernel = attr.has(perf_event::kAttrExcludeKernel);
  if (no_user != no_kernel) modifiers += no_user ? 'k' : 'u';
  modifiers.append(
      (attr.flags & perf_event::kAttrPreciseIpMask) >> perf_event::kAttrPreciseIpShift, 'p');
  if (modifiers.empty()) return BaseName(attr);
  return absl::StrCat(BaseName(attr), ":", modifiers);
}

}  // namespace profiler::perf_data
