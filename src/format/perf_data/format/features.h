// The feature sections of a perf.data header, decoded.
// Source: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c,
// Linux 7.2.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace profiler::perf_data {

struct BuildIdEntry {
  int32_t pid = -1;
  uint16_t misc = 0;  // the cpumode bits say kernel or user
  std::vector<std::byte> build_id;
  std::string filename;
  bool operator==(const BuildIdEntry&) const = default;
};

struct SampleTime {
  uint64_t first = 0, last = 0;  // nanoseconds of the samples' clock
  bool operator==(const SampleTime&) const = default;
};

struct ClockData {
  uint32_t clockid = 0;
  uint64_t wall_clock_ns = 0;
  uint64_t clockid_time_ns = 0;
  uint32_t version = 1;  // version of the layout; only version 1 exists
  bool operator==(const ClockData&) const = default;
};

struct CpuCount {
  uint32_t available = 0, online = 0;
  bool operator==(const CpuCount&) const = default;
};

// COMPRESSED: how the records inside compressed records were compressed.
struct Compression {
  uint32_t version = 1;
  uint32_t type = 1;  // zstd
  uint32_t level = 0, ratio = 0;
  uint32_t mmap_len = 0;  // largest size in bytes that a record inflates to
};

// AUX data: traces of units of the CPU (Intel PT, SPE …), which are not decoded here.
struct AuxData {
  uint32_t type = 0;   // PERF_AUXTRACE_*, from AUXTRACE_INFO; 0: not recorded
  uint64_t bytes = 0;  // size of all AUXTRACE records
  bool operator==(const AuxData&) const = default;
};

// All features of a recording. Features that the file lacks are empty.
struct Features {
  std::vector<BuildIdEntry> build_ids;
  std::string hostname, osrelease, version, arch, cpudesc, cpuid;
  std::optional<CpuCount> nrcpus;
  std::optional<uint64_t> total_mem_kb;
  std::vector<std::string> cmdline;
  std::optional<SampleTime> sample_time;
  std::optional<uint64_t> clockid_resolution_ns;
  std::optional<ClockData> clock_data;
  // AUX data are described by records, not by a section. Complete when all records have been read.
  AuxData aux_data;
  // Sections that are not decoded here, verbatim, keyed by feature bit. feature_values.h decodes
  // perf's sections. EVENT_DESC is not included; Recording::events() has its content.
  std::map<int, std::string> other;
  // True if numbers inside `other` are in the other byte order.
  bool other_swapped = false;

  bool operator==(const Features&) const = default;
};

}  // namespace profiler::perf_data
