#include "src/format/perf_data/dump/describe_features.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

using Lines = std::vector<std::string>;

// Returns the lines of a feature; nullopt if its section cannot be read.
using Describe = std::optional<Lines> (*)(const Recording&);

std::optional<Lines> CpuTopology(const Recording& recording) {
  const auto topology = ReadCpuTopology(recording.features());
  if (!topology) return std::nullopt;
  Lines lines;
  const bool dies = !topology->die_siblings.empty();
  for (const auto& cpus : topology->core_siblings) lines.push_back("sibling sockets : " + cpus);
  for (const auto& cpus : topology->die_siblings) lines.push_back("sibling dies    : " + cpus);
  for (const auto& cpus : topology->thread_siblings) lines.push_back("sibling threads : " + cpus);
  for (size_t i = 0; i < topology->cpus.size(); ++i) {
    const auto& cpu = topology->cpus[i];
    std::string line = absl::StrCat("CPU ", i, ": Core ID ", static_cast<int>(cpu.core_id));
    if (dies) absl::StrAppend(&line, ", Die ID ", static_cast<int>(topology->die_ids[i]));
    absl::StrAppend(&line, ", Socket ID ", static_cast<int>(cpu.socket_id));
    lines.push_back(std::move(line));
  }
  if (topology->cpus.empty()) {
    lines.emplace_back(dies ? "Core ID, Die ID and Socket ID information is not available"
                            : "Core ID and Socket ID information is not available");
  }
  return lines;
}

std::optional<Lines> NumaTopology(const Recording& recording) {
  const auto nodes = ReadNumaTopology(recording.features());
  if (!nodes) return std::nullopt;
  Lines lines;
  for (const auto& node : *nodes) {
    lines.push_back(absl::StrCat("node", node.node, " meminfo  : total = ", node.total_kb,
                                 " kB, free = ", node.free_kb, " kB"));
    lines.push_back(absl::StrCat("node", node.node, " cpu list : ", node.cpus));
  }
  return lines;
}

std::optional<Lines> PmuMappings(const Recording& recording) {
  const auto mappings = ReadPmuMappings(recording.features());
  if (!mappings) return std::nullopt;
  if (mappings->empty()) return Lines{"pmu mappings: not available"};
  return Lines{"pmu mappings: " +
               absl::StrJoin(*mappings, ", ", [](std::string* out, const auto& mapping) {
                 absl::StrAppend(out, mapping.name, " = ", mapping.type);
               })};
}

std::optional<Lines> Groups(const Recording& recording) {
  const auto groups = ReadGroups(recording.features());
  if (!groups) return std::nullopt;
  Lines lines;
  const auto& events = recording.events();
  for (const auto& group : *groups) {
    std::vector<std::string> names;
    for (uint64_t i = group.leader; i < events.size() && i - group.leader < group.members; ++i) {
      names.push_back(events[i].name);
    }
    lines.push_back(absl::StrCat("group: ", group.name, "{", absl::StrJoin(names, ","), "}"));
  }
  return lines;
}

std::optional<Lines> Caches(const Recording& recording) {
  const auto caches = ReadCaches(recording.features());
  if (!caches) return std::nullopt;
  Lines lines = {"CPU cache info:"};
  for (const auto& cache : *caches) {
    lines.push_back(
        absl::StrFormat(" L%d %-15s %8s [%s]", cache.level, cache.type, cache.size, cache.cpus));
  }
  return lines;
}

// Returns, for example, "32G": in the largest unit with a value of at least 2.
std::string SizeText(uint64_t bytes) {
  constexpr char kUnits[] = "BKMGT";
  size_t unit = 0;
  for (; bytes / 1024 > 1 && unit + 2 < sizeof(kUnits); ++unit) bytes /= 1024;
  return absl::StrCat(bytes, std::string(1, kUnits[unit]));
}

// Returns the numbers of the set bits, for example "0-17,32".
std::string SetBits(const std::vector<uint64_t>& words) {
  std::string text;
  const auto has = [&words](uint64_t bit) {
    return bit / 64 < words.size() && (words[bit / 64] >> (bit % 64) & 1) != 0;
  };
  for (uint64_t bit = 0; bit < words.size() * 64; ++bit) {
    if (!has(bit)) continue;
    const uint64_t first = bit;
    while (has(bit + 1)) ++bit;
    absl::StrAppend(&text, text.empty() ? "" : ",", first);
    if (bit != first) absl::StrAppend(&text, "-", bit);
  }
  return text;
}

std::optional<Lines> MemoryTopology(const Recording& recording) {
  const auto topology = ReadMemoryTopology(recording.features());
  if (!topology) return std::nullopt;
  Lines lines = {absl::StrFormat("memory nodes (nr %d, block size 0x%x):", topology->nodes.size(),
                                 topology->block_size)};
  for (const auto& node : topology->nodes) {
    lines.push_back(absl::StrFormat(" %3d [%s]: %s", node.node,
                                    SizeText(node.blocks * topology->block_size),
                                    SetBits(node.present)));
  }
  return lines;
}

std::optional<Lines> DirFormat(const Recording& recording) {
  const auto version = ReadDirFormat(recording.features());
  if (!version) return std::nullopt;
  return Lines{absl::StrCat("directory data version : ", *version)};
}

std::optional<Lines> BpfPrograms(const Recording& recording) {
  const auto programs = ReadBpfPrograms(recording.features());
  if (!programs) return std::nullopt;
  if (programs->empty()) return Lines{"bpf_prog_info empty"};
  Lines lines;
  for (const auto& program : *programs) {
    lines.push_back(absl::StrCat("bpf_prog_info ", program.id, ": ", program.name));
  }
  return lines;
}

std::optional<Lines> BpfTypes(const Recording& recording) {
  const auto types = ReadBpfTypes(recording.features());
  if (!types) return std::nullopt;
  if (types->empty()) return Lines{"btf info empty"};
  Lines lines;
  for (const auto& entry : *types) lines.push_back(absl::StrCat("btf info of id ", entry.id));
  return lines;
}

std::optional<Lines> Compression(const Recording& recording) {
  const auto compression = ReadCompression(recording.features());
  if (!compression) return std::nullopt;
  return Lines{absl::StrCat("compressed : ", compression->type == 1 ? "Zstd" : "Unknown",
                            ", level = ", compression->level, ", ratio = ", compression->ratio)};
}

std::string CapsLine(const std::string& pmu, const PmuCaps& caps) {
  const std::string text = absl::StrJoin(caps, ", ", [](std::string* out, const auto& cap) {
    absl::StrAppend(out, cap.first, "=", cap.second);
  });
  return absl::StrCat(pmu, " pmu capabilities: ", caps.empty() ? "not available" : text);
}

std::optional<Lines> CpuPmuCaps(const Recording& recording) {
  const auto caps = ReadCpuPmuCaps(recording.features());
  if (!caps) return std::nullopt;
  return Lines{CapsLine("cpu", *caps)};
}

std::optional<Lines> HybridTopology(const Recording& recording) {
  const auto nodes = ReadHybridTopology(recording.features());
  if (!nodes) return std::nullopt;
  Lines lines = {"hybrid cpu system:"};
  for (const auto& node : *nodes) lines.push_back(node.pmu + " cpu list : " + node.cpus);
  return lines;
}

std::optional<Lines> PmuCaps(const Recording& recording) {
  const auto pmus = ReadPmuCaps(recording.features());
  if (!pmus) return std::nullopt;
  Lines lines;
  for (const auto& pmu : *pmus) lines.push_back(CapsLine(pmu.pmu, pmu.caps));
  return lines;
}

std::optional<Lines> CpuDomains(const Recording& recording) {
  const auto domains = ReadCpuDomains(recording.features());
  if (!domains) return std::nullopt;
  Lines lines = {absl::StrCat("schedstat version\t: ", domains->schedstat_version),
                 absl::StrCat("Maximum sched domains\t: ", domains->max_domains)};
  for (const auto& cpu : domains->cpus) {
    lines.push_back(absl::StrCat("cpu\t\t: ", cpu.cpu));
    lines.push_back(absl::StrCat("nr_domains\t: ", cpu.domains.size()));
    for (const auto& domain : cpu.domains) {
      lines.push_back(absl::StrCat("Domain\t\t: ", domain.domain));
      if (!domain.name.empty()) lines.push_back("Domain name      : " + domain.name);
      lines.push_back("Domain cpu map   : " + domain.cpu_mask);
      lines.push_back("Domain cpu list  : " + domain.cpus);
    }
  }
  return lines;
}

std::optional<Lines> Machine(const Recording& recording) {
  const auto machine = ReadElfMachine(recording.features());
  if (!machine) return std::nullopt;
  return Lines{absl::StrFormat("e_machine : %d", machine->machine),
               absl::StrFormat("  e_flags : %#x", machine->flags)};
}

std::optional<Lines> CacheLineSize(const Recording& recording) {
  const auto size = ReadCacheLineSize(recording.features());
  if (!size) return std::nullopt;
  return Lines{absl::StrCat("cacheline size: ", *size)};
}

std::optional<Lines> Imported(const Recording& recording) {
  const auto from = ReadImported(recording.features());
  if (!from) return std::nullopt;
  return Lines{absl::StrCat("imported from : ", from->file, " (", from->format, ")")};
}

std::optional<Lines> Recorder(const Recording& recording) {
  const auto recorder = ReadRecorder(recording.features());
  if (!recorder) return std::nullopt;
  Lines lines;
  if (!recorder->priority.empty()) {
    lines.push_back(absl::StrCat("priority of the recorder : ", recorder->priority));
  }
  if (recorder->copied_stack != 0) {
    lines.push_back(absl::StrCat("bytes of stack that were unwound : ", recorder->copied_stack));
  }
  if (const auto& moment = recorder->moment) {
    constexpr double kSecond = 1e9;
    lines.push_back(absl::StrFormat(
        "flight recorder : %.3f s before and %.3f s after %s at %.6f, %d samples dropped",
        static_cast<double>(moment->before) / kSecond, static_cast<double>(moment->after) / kSecond,
        moment->reason, static_cast<double>(moment->time) / kSecond, moment->dropped));
  }
  for (const RecorderFacts::Estimate& estimate : recorder->estimates) {
    lines.push_back(absl::StrCat("context switches of ", estimate.event, " : ", estimate.switches,
                                 ", ", estimate.sampled, " with a stack"));
  }
  return lines;
}

template <const char* kText>
std::optional<Lines> Constant(const Recording&) {
  return Lines{kText};
}
constexpr char kBranchStack[] = "contains samples with branch stack";
constexpr char kAuxtrace[] = "contains AUX area data (e.g. instruction trace)";
constexpr char kStat[] = "contains stat data";

// The features that are described by lines of their own. perf's other features are part of the
// header or have no lines (TRACING_DATA, BUILD_ID).
struct Description {
  FeatureBit bit;
  Describe describe;
};
constexpr Description kDescriptions[] = {
    {kFeatureCpuTopology, CpuTopology},
    {kFeatureNumaTopology, NumaTopology},
    {kFeatureBranchStack, Constant<kBranchStack>},
    {kFeaturePmuMappings, PmuMappings},
    {kFeatureGroupDesc, Groups},
    {kFeatureAuxtrace, Constant<kAuxtrace>},
    {kFeatureStat, Constant<kStat>},
    {kFeatureCache, Caches},
    {kFeatureMemTopology, MemoryTopology},
    {kFeatureDirFormat, DirFormat},
    {kFeatureBpfProgInfo, BpfPrograms},
    {kFeatureBpfBtf, BpfTypes},
    {kFeatureCompressed, Compression},
    {kFeatureCpuPmuCaps, CpuPmuCaps},
    {kFeatureHybridTopology, HybridTopology},
    {kFeaturePmuCaps, PmuCaps},
    {kFeatureCpuDomainInfo, CpuDomains},
    {kFeatureEMachine, Machine},
    {kFeatureCacheLineSize, CacheLineSize},
    {kFeatureImported, Imported},
    {kFeatureRecorder, Recorder},
};

bool HasValue(const Recording& recording, int bit) {
  const Features& features = recording.features();
  switch (bit) {
    case kFeatureBuildId:
      return !features.build_ids.empty();
    case kFeatureHostname:
      return !features.hostname.empty();
    case kFeatureOsrelease:
      return !features.osrelease.empty();
    case kFeatureVersion:
      return !features.version.empty();
    case kFeatureArch:
      return !features.arch.empty();
    case kFeatureNrcpus:
      return features.nrcpus.has_value();
    case kFeatureCpudesc:
      return !features.cpudesc.empty();
    case kFeatureCpuid:
      return !features.cpuid.empty();
    case kFeatureTotalMem:
      return features.total_mem_kb.has_value();
    case kFeatureCmdline:
      return !features.cmdline.empty();
    case kFeatureEventDesc:
      return !recording.events().empty();
    case kFeatureSampleTime:
      return features.sample_time.has_value();
    case kFeatureClockid:
      return features.clockid_resolution_ns.has_value();
    case kFeatureClockData:
      return features.clock_data.has_value();
    default:
      return features.other.count(bit) != 0;
  }
}

}  // namespace

std::map<int, std::vector<std::string>> DescribeFeatures(const Recording& recording) {
  std::map<int, Lines> lines;
  for (const auto& [bit, section] : recording.features().other) {
    const NamedFeature* const feature = FindFeature(bit);
    if (feature == nullptr || !feature->title.empty()) {
      const std::string title = feature == nullptr ? absl::StrCat("feature ", bit, " (unknown)")
                                                   : std::string(feature->title);
      lines[bit] = {absl::StrCat(title, " : ", section.size(), " bytes")};
    }
  }
  for (const Description& description : kDescriptions) {
    if (recording.features().other.count(description.bit) == 0) continue;
    std::optional<Lines> described = description.describe(recording);
    const std::string name(FindFeature(description.bit)->name);
    lines[description.bit] = described ? *std::move(described) : Lines{name + " : cannot be read"};
  }
  return lines;
}

std::vector<std::string> MissingFeatures(const Recording& recording) {
  std::vector<std::string> missing;
  for (const NamedFeature& feature : kNamedFeatures) {
    if (feature.bit >= kFirstOwnFeature) break;
    if (!HasValue(recording, feature.bit)) missing.emplace_back(feature.name);
  }
  return missing;
}

}  // namespace profiler::perf_data
