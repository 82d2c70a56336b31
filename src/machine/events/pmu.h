// Reads the PMUs of this machine from sysfs.
//
//   /sys/bus/event_source/devices/cpu/
//     type              4
//     format/event      config:0-7,32-35       attr bits of the term `event`, lowest first
//     events/mem-loads  event=0xcd,umask=0x1   terms of a named event
//     events/power.unit, events/power.scale    the unit of a count times the scale
//     cpumask           0,18                   for a PMU shared by CPUs: CPUs to open it on
//     cpus              0-15                   for a core PMU: its CPUs
//
// Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-*, Linux 6.18.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_event/attr.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

// The bits of a term in one field of perf_event_attr.
struct PmuFormat {
  uint64_t perf_event::Attr::*field = nullptr;
  // First and last bit of each range. The first range holds the lowest bits of the value.
  std::vector<std::pair<unsigned, unsigned>> bits;

  // Distributes `value` over the bits. Returns false if it does not fit.
  bool Put(uint64_t value, perf_event::Attr* attr) const;
  unsigned width() const;
};

// Parses "config1:0-7,32-35"; returns nullopt for other text.
std::optional<PmuFormat> ParsePmuFormat(std::string_view text);

// A named event of a PMU.
struct PmuAlias {
  std::string terms;  // "event=0xcd,umask=0x1"
  std::string unit;
  double scale = 1;
};

struct Pmu {
  std::string name;
  uint32_t type = 0;
  std::vector<int> cpus;  // CPUs to count on; empty: all
  // True if the PMU counts events of a CPU's core, and therefore the generic hardware events.
  bool is_core = false;
  std::string directory;

  // These functions read sysfs at each call.
  std::optional<PmuFormat> FindFormat(std::string_view term) const;
  std::optional<PmuAlias> FindAlias(std::string_view event) const;
  std::vector<std::string> FormatNames() const;
  std::vector<std::string> AliasNames() const;
};

// Returns all PMUs, sorted by name. Reads some four files per PMU.
std::vector<Pmu> ReadPmus(const procfs::Roots& roots);

// Returns the `pmus` whose name matches `pattern`. If no name matches, returns the PMUs whose name
// is `pattern` and a number: uncore_imc stands for uncore_imc_0, uncore_imc_1 ….
std::vector<Pmu> FindPmus(const std::vector<Pmu>& pmus, std::string_view pattern);

}  // namespace profiler::events
