// Decodes the feature sections that Features keeps verbatim (Features::other). They describe the
// machine and the recording; reports do not need them.
//
// Each Read function decodes the section of its feature from `features`. It returns nullopt if the
// section is missing, truncated or invalid. Thread-safe. Source: tools/perf/util/header.c,
// Linux 7.2.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/format/perf_data/format/features.h"

namespace profiler::perf_data {

// CPU_TOPOLOGY. Sibling lists look like "0-3,8". Fields that an older recorder did not write are
// empty.
struct CpuTopology {
  struct Cpu {
    uint32_t core_id = 0, socket_id = 0;
    bool operator==(const Cpu&) const = default;
  };
  std::vector<std::string> core_siblings, thread_siblings, die_siblings;
  std::vector<Cpu> cpus;          // indexed by CPU
  std::vector<uint32_t> die_ids;  // indexed by CPU
};
std::optional<CpuTopology> ReadCpuTopology(const Features& features);
// Returns the size of a section without the padding that follows it in streams. perf would mistake
// the padding for a later revision of the section. `cpu_count`: the number of available CPUs
// (NRCPUS).
size_t CpuTopologySize(std::span<const std::byte> section, uint32_t cpu_count, bool swapped);

// CPU_DOMAIN_INFO: the scheduler's domains, from small to large.
struct CpuDomains {
  struct Domain {
    uint32_t domain = 0;
    std::string name;            // "SMT", "MC" …; empty before schedstat version 17
    std::string cpu_mask, cpus;  // the same CPUs in two forms: "00000003" and "0-1"
  };
  struct Cpu {
    uint32_t cpu = 0;
    std::vector<Domain> domains;
  };
  uint32_t schedstat_version = 0;
  uint32_t max_domains = 0;
  std::vector<Cpu> cpus;
};
std::optional<CpuDomains> ReadCpuDomains(const Features& features);

// NUMA_TOPOLOGY
struct NumaNode {
  uint32_t node = 0;
  uint64_t total_kb = 0, free_kb = 0;
  std::string cpus;
};
std::optional<std::vector<NumaNode>> ReadNumaTopology(const Features& features);

// PMU_MAPPINGS: names of the values of attr.type beyond the kernel's generic types.
struct PmuMapping {
  uint32_t type = 0;
  std::string name;
};
std::optional<std::vector<PmuMapping>> ReadPmuMappings(const Features& features);

// GROUP_DESC
struct EventGroup {
  std::string name;     // empty for "{anon_group}" in the file
  uint32_t leader = 0;  // index of the leading event
  uint32_t members = 0;
};
std::optional<std::vector<EventGroup>> ReadGroups(const Features& features);
void SetGroups(const std::vector<EventGroup>& groups, Features* features);

// CACHE
struct CacheLevel {
  uint32_t level = 0, line_size = 0, sets = 0, ways = 0;
  std::string type, size, cpus;  // "Data", "32K", "0,4"
};
std::optional<std::vector<CacheLevel>> ReadCaches(const Features& features);

// MEM_TOPOLOGY
struct MemoryTopology {
  struct Node {
    uint64_t node = 0;
    uint64_t blocks = 0;            // number of present blocks
    std::vector<uint64_t> present;  // one bit per block
  };
  uint64_t block_size = 0;  // bytes
  std::vector<Node> nodes;
};
std::optional<MemoryTopology> ReadMemoryTopology(const Features& features);

// DIR_FORMAT: the version of a directory's layout.
std::optional<uint64_t> ReadDirFormat(const Features& features);

// BPF_PROG_INFO and BPF_BTF: the programs that ran, without their code.
struct BpfProgram {
  uint32_t type = 0, id = 0;
  std::string name;
};
std::optional<std::vector<BpfProgram>> ReadBpfPrograms(const Features& features);
struct BpfTypes {
  uint32_t id = 0, size = 0;
};
std::optional<std::vector<BpfTypes>> ReadBpfTypes(const Features& features);

// COMPRESSED
std::optional<Compression> ReadCompression(const Features& features);

// CPU_PMU_CAPS, PMU_CAPS: "branches" → "32".
using PmuCaps = std::vector<std::pair<std::string, std::string>>;
std::optional<PmuCaps> ReadCpuPmuCaps(const Features& features);
struct NamedPmuCaps {
  std::string pmu;
  PmuCaps caps;
};
std::optional<std::vector<NamedPmuCaps>> ReadPmuCaps(const Features& features);

// HYBRID_TOPOLOGY
struct HybridNode {
  std::string pmu, cpus;
};
std::optional<std::vector<HybridNode>> ReadHybridTopology(const Features& features);

// E_MACHINE: the recorder's machine and flags, as in ELF headers.
struct ElfMachine {
  uint32_t machine = 0, flags = 0;
};
std::optional<ElfMachine> ReadElfMachine(const Features& features);

// CLN_SIZE: bytes of a cache line.
std::optional<uint32_t> ReadCacheLineSize(const Features& features);

}  // namespace profiler::perf_data
