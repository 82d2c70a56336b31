// The PMUs of this machine, as sysfs describes them.
//
//   /sys/bus/event_source/devices/cpu/
//     type              4
//     format/event      config:0-7,32-35       where a term's bits go, lowest first
//     events/mem-loads  event=0xcd,umask=0x1   terms that a name stands for
//     events/power.unit, events/power.scale    what a count times scale is measured in
//     cpumask           0,18                   of a PMU that counts for several CPUs: where to ask
//     cpus              0-15                   of a core PMU: the CPUs that have it
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
#include "src/perf_event/attr.h"
#include "src/procfs/proc_file.h"

namespace profiler::events {

// Bits of one field of perf_event_attr.
struct PmuFormat {
  uint64_t perf_event::Attr::*field = nullptr;
  std::vector<std::pair<unsigned, unsigned>> bits;  // first and last, in the order of the value's

  // Spreads `value` over the bits. False where it has more than there are.
  bool Put(uint64_t value, perf_event::Attr* attr) const;
  unsigned width() const;
};

// "config1:0-7,32-35"; nothing for what cannot be read so.
std::optional<PmuFormat> ParsePmuFormat(std::string_view text);

// An event that the PMU has a name for.
struct PmuAlias {
  std::string terms;  // "event=0xcd,umask=0x1"
  std::string unit;
  double scale = 1;
};

struct Pmu {
  std::string name;
  uint32_t type = 0;
  std::vector<int> cpus;  // on which it is counted; empty: on all
  bool is_core = false;   // counts what a CPU's core does: the generic hardware events are its
  std::string directory;

  // Read anew at each call.
  std::optional<PmuFormat> FindFormat(std::string_view term) const;
  std::optional<PmuAlias> FindAlias(std::string_view event) const;
  std::vector<std::string> FormatNames() const;
  std::vector<std::string> AliasNames() const;
};

// All that there are, sorted by name. Some four files each.
std::vector<Pmu> ReadPmus(const procfs::Roots& roots);

// Those of `pmus` whose name is `pattern` or fits it; where none does, those called so but for a
// number at the end, as uncore_imc stands for uncore_imc_0, uncore_imc_1 ….
std::vector<Pmu> FindPmus(const std::vector<Pmu>& pmus, std::string_view pattern);

}  // namespace profiler::events
