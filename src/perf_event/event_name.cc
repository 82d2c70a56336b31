#include "src/perf_event/event_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/edit_distance.h"
#include "src/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

struct NamedEvent {
  uint32_t type;
  uint64_t config;
  std::string_view name;
};

// The first name of an event is the one that it is shown under.
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
    if (!name.starts_with(kCaches[cache])) continue;
    for (uint64_t operation = 0; operation < std::size(kOperations); ++operation) {
      for (uint64_t miss : {0, 1}) {
        if (name == CacheEventName(cache, operation, miss != 0)) {
          return cache | operation << 8 | miss << 16;
        }
      }
    }
  }
  return std::nullopt;
}

// HW_BREAKPOINT_*, include/uapi/linux/hw_breakpoint.h
constexpr std::pair<char, uint32_t> kBreakpointAccesses[] = {{'r', 1}, {'w', 2}, {'x', 4}};

std::string BreakpointName(const Attr& attr) {
  std::string name = absl::StrFormat("mem:%#x", attr.config1);
  if (attr.config2 != 0) absl::StrAppend(&name, "/", attr.config2);
  name += ':';
  for (const auto& [letter, bit] : kBreakpointAccesses) {
    if (attr.bp_type & bit) name += letter;
  }
  return name;
}

// The event without modifiers.
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

// As evsel__add_modifiers() of tools/perf/util/evsel.c has them, Linux 6.13 to 7.2, and as perf 7.2
// prints streams of perf 3.2 to 4.14, whose events count the host alone: "cycles:H". Older perfs
// took exclude_guest for the default of an event without other modifiers, and left it out.
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

absl::Status BadModifier(std::string_view modifiers) {
  return absl::InvalidArgumentError(
      absl::StrFormat("event modifiers '%s': expected letters of u, k, h, p, P, H, G", modifiers));
}

absl::Status ApplyModifiers(std::string_view modifiers, Attr* attr) {
  if (modifiers.empty()) return BadModifier(modifiers);
  uint64_t levels = 0, hosts = 0, precise = 0;  // bits that the named modes would exclude
  for (char letter : modifiers) {
    switch (letter) {
      case 'u':
        levels |= kAttrExcludeUser;
        break;
      case 'k':
        levels |= kAttrExcludeKernel;
        break;
      case 'h':
        levels |= kAttrExcludeHv;
        break;
      case 'H':
        hosts |= kAttrExcludeHost;
        break;
      case 'G':
        hosts |= kAttrExcludeGuest;
        break;
      case 'p':
        ++precise;
        break;
      case 'P':
        precise = 3;
        break;
      default:
        return BadModifier(modifiers);
    }
  }
  if (precise > 3) return BadModifier(modifiers);
  constexpr uint64_t kLevels = kAttrExcludeUser | kAttrExcludeKernel | kAttrExcludeHv;
  if (levels != 0) attr->flags |= kLevels & ~levels;
  if (hosts != 0) attr->flags |= (kAttrExcludeHost | kAttrExcludeGuest) & ~hosts;
  attr->flags |= precise << kAttrPreciseIpShift;
  return absl::OkStatus();
}

std::optional<uint64_t> HexNumber(std::string_view text) {
  uint64_t value;
  const absl::string_view digits(text.data(), text.size());
  if (text.empty() || !absl::SimpleHexAtoi(digits, &value)) return std::nullopt;
  return value;
}

std::optional<uint64_t> Number(std::string_view text) {
  if (text.starts_with("0x")) return HexNumber(text.substr(2));
  uint64_t value;
  if (!absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &value)) return std::nullopt;
  return value;
}

// ADDR[/LEN][:ACCESS][:MODIFIERS], after "mem:". perf watches reads and writes of 4 bytes by
// default.
absl::StatusOr<Attr> ParseBreakpoint(std::string_view text) {
  Attr attr{.type = kTypeBreakpoint, .bp_type = 3, .config2 = 4};
  const std::string_view where = text.substr(0, text.find(':'));
  const std::string_view address = where.substr(0, where.find('/'));
  const auto number = Number(address);
  if (!number)
    return absl::InvalidArgumentError(
        absl::StrCat("breakpoint: bad address in mem:", std::string(text)));
  attr.config1 = *number;
  bool has_length = false;
  if (address.size() < where.size()) {
    const auto length = Number(where.substr(address.size() + 1));
    if (!length)
      return absl::InvalidArgumentError(
          absl::StrCat("breakpoint: bad length in mem:", std::string(text)));
    attr.config2 = *length;
    has_length = true;
  }
  std::string_view rest = text.substr(std::min(text.size(), where.size() + 1));
  const std::string_view accesses = rest.substr(0, rest.find(':'));
  if (accesses.find_first_not_of("rwx") == std::string_view::npos && !accesses.empty()) {
    attr.bp_type = 0;
    for (const auto& [letter, bit] : kBreakpointAccesses) {
      if (accesses.find(letter) != std::string_view::npos) attr.bp_type |= bit;
    }
    rest.remove_prefix(std::min(rest.size(), accesses.size() + 1));
  }
  if (attr.bp_type == 4 && !has_length) attr.config2 = sizeof(long);  // the kernel insists
  if (!rest.empty()) PROFILER_RETURN_IF_ERROR(ApplyModifiers(rest, &attr));
  return attr;
}

std::optional<Attr> ParseBareName(std::string_view name) {
  for (const NamedEvent& event : kEvents) {
    if (event.name == name) return Attr{.type = event.type, .config = event.config};
  }
  if (const auto config = CacheEventConfig(name)) {
    return Attr{.type = kTypeHwCache, .config = *config};
  }
  if (name.starts_with('r')) {
    constexpr std::string_view kShown = "raw 0x";  // where "r1a8" is what a person types
    if (const auto config = HexNumber(name.substr(name.starts_with(kShown) ? kShown.size() : 1))) {
      return Attr{.type = kTypeRaw, .config = *config};
    }
  }
  return std::nullopt;
}

absl::Status UnknownEvent(std::string_view name) {
  std::string message = absl::StrFormat("event '%s' is not known", name);
  if (name.size() < 64) {
    const auto distance = [&](const NamedEvent& event) { return EditDistance(name, event.name); };
    const auto nearest =
        std::min_element(std::begin(kEvents), std::end(kEvents),
                         [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    if (distance(*nearest) <= std::min<size_t>(3, name.size() / 2)) {
      absl::StrAppend(&message, absl::StrFormat("; did you mean '%s'?", nearest->name));
    }
  }
  return absl::NotFoundError(message);
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

absl::StatusOr<Attr> ParseEvent(std::string_view name) {
  constexpr std::string_view kBreakpoint = "mem:", kTracepoint = "tracepoint:";
  if (name.starts_with(kBreakpoint)) return ParseBreakpoint(name.substr(kBreakpoint.size()));

  Attr attr;
  const size_t skipped = name.starts_with(kTracepoint) ? kTracepoint.size() : 0;
  const size_t colon = name.find(':', skipped);
  const std::string_view bare = name.substr(0, colon);
  if (skipped != 0) {
    const auto id = Number(bare.substr(skipped));
    if (!id) return absl::InvalidArgumentError(absl::StrFormat("'%s': bad tracepoint id", name));
    attr = Attr{.type = kTypeTracepoint, .config = *id};
  } else if (const auto parsed = ParseBareName(bare)) {
    attr = *parsed;
  } else {
    return UnknownEvent(name);
  }
  if (colon != std::string_view::npos) {
    PROFILER_RETURN_IF_ERROR(ApplyModifiers(name.substr(colon + 1), &attr));
  }
  return attr;
}

std::vector<std::string_view> KnownEventNames() {
  std::vector<std::string_view> names;
  for (const NamedEvent& event : kEvents) names.push_back(event.name);
  return names;
}

}  // namespace profiler::perf_event
