// The numbers and fixed structures of perf.data. FORMAT.md draws the whole file.
// Source: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.h,
// Linux 7.2.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace profiler::perf_data {

// "PERFILE2" and "PERFFILE" as little-endian numbers. The magic of version 2 shows the byte order.
// The magic of version 1 is the same text in both byte orders, so in version 1 the header's size
// field shows the byte order.
inline constexpr uint64_t kMagic2 = 0x32454c4946524550;
inline constexpr uint64_t kMagic1 = 0x454c494646524550;

// struct perf_file_section { u64 offset, size; }: a part of the file.
struct FileSection {
  uint64_t offset = 0;
  uint64_t size = 0;
  bool operator==(const FileSection&) const = default;
};
static_assert(sizeof(FileSection) == 16);

// struct perf_file_header {                       offset
//   u64 magic;                                       0
//   u64 size;                                        8   size of this header: 104; 72 in old files
//   u64 attr_size;                                  16   size of an attr entry: attr + FileSection
//   struct perf_file_section attrs;                 24
//   struct perf_file_section data;                  40
//   struct perf_file_section event_types;           56   names of events, before Linux 3.12
//   u64 adds_features[4];                           72   bit n: feature section n is there
// };                                               104
inline constexpr size_t kFileHeaderSize = 104;
inline constexpr size_t kFileHeaderSizeWithoutFeatures = 72;
inline constexpr size_t kDataSizeOffset = 48;
inline constexpr size_t kFeatureBitsOffset = 72;
inline constexpr int kFeatureBits = 256;

// struct perf_pipe_file_header { u64 magic, size; };   a file that was a stream: size is 16
inline constexpr size_t kPipeHeaderSize = 16;

// Largest number of events that are read from one recording; further events are ignored. perf opens
// some thousand if all tracepoints of a kernel are recorded. Views walk over all samples once for
// each event that has samples.
inline constexpr size_t kMostEvents = 8192;

// An entry of event_types: { u64 config; char name[64]; }
inline constexpr size_t kEventTypeNameSize = 64;
inline constexpr size_t kEventTypeSize = 8 + kEventTypeNameSize;

// Names in feature sections are padded with NULs to a multiple of this.
inline constexpr size_t kNameAlign = 64;

enum FeatureBit : int {
  kFeatureTracingData = 1,
  kFeatureBuildId = 2,
  kFeatureHostname = 3,
  kFeatureOsrelease = 4,
  kFeatureVersion = 5,
  kFeatureArch = 6,
  kFeatureNrcpus = 7,
  kFeatureCpudesc = 8,
  kFeatureCpuid = 9,
  kFeatureTotalMem = 10,
  kFeatureCmdline = 11,
  kFeatureEventDesc = 12,
  kFeatureCpuTopology = 13,
  kFeatureNumaTopology = 14,
  kFeatureBranchStack = 15,
  kFeaturePmuMappings = 16,
  kFeatureGroupDesc = 17,
  kFeatureAuxtrace = 18,
  kFeatureStat = 19,
  kFeatureCache = 20,
  kFeatureSampleTime = 21,
  kFeatureMemTopology = 22,
  kFeatureClockid = 23,
  kFeatureDirFormat = 24,
  kFeatureBpfProgInfo = 25,
  kFeatureBpfBtf = 26,
  kFeatureCompressed = 27,
  kFeatureCpuPmuCaps = 28,
  kFeatureClockData = 29,
  kFeatureHybridTopology = 30,
  kFeaturePmuCaps = 31,
  kFeatureCpuDomainInfo = 32,
  kFeatureEMachine = 33,
  kFeatureCacheLineSize = 34,

  // Our own features, which perf skips. Features that are known only after all others are written
  // have the highest bits, in the order in which they are written (Writer::AppendSection).
  kFirstOwnFeature = 198,
  kFeatureImported = kFirstOwnFeature,
  kFeatureRecorder = 199,
  kFeatureChainQuality = 200,
  kFeatureNames = 201,
  kFeatureSums = 202,
  kFeatureCode = 203,
};

// A feature that has a name; kNamedFeatures has all of them.
struct NamedFeature {
  FeatureBit bit;
  std::string_view name;        // perf's name (feat_ops[] of header.c), or a similar one
  std::string_view title = {};  // title for a person; only our own features have one
};
inline constexpr NamedFeature kNamedFeatures[] = {
    {kFeatureTracingData, "TRACING_DATA"},
    {kFeatureBuildId, "BUILD_ID"},
    {kFeatureHostname, "HOSTNAME"},
    {kFeatureOsrelease, "OSRELEASE"},
    {kFeatureVersion, "VERSION"},
    {kFeatureArch, "ARCH"},
    {kFeatureNrcpus, "NRCPUS"},
    {kFeatureCpudesc, "CPUDESC"},
    {kFeatureCpuid, "CPUID"},
    {kFeatureTotalMem, "TOTAL_MEM"},
    {kFeatureCmdline, "CMDLINE"},
    {kFeatureEventDesc, "EVENT_DESC"},
    {kFeatureCpuTopology, "CPU_TOPOLOGY"},
    {kFeatureNumaTopology, "NUMA_TOPOLOGY"},
    {kFeatureBranchStack, "BRANCH_STACK"},
    {kFeaturePmuMappings, "PMU_MAPPINGS"},
    {kFeatureGroupDesc, "GROUP_DESC"},
    {kFeatureAuxtrace, "AUXTRACE"},
    {kFeatureStat, "STAT"},
    {kFeatureCache, "CACHE"},
    {kFeatureSampleTime, "SAMPLE_TIME"},
    {kFeatureMemTopology, "MEM_TOPOLOGY"},
    {kFeatureClockid, "CLOCKID"},
    {kFeatureDirFormat, "DIR_FORMAT"},
    {kFeatureBpfProgInfo, "BPF_PROG_INFO"},
    {kFeatureBpfBtf, "BPF_BTF"},
    {kFeatureCompressed, "COMPRESSED"},
    {kFeatureCpuPmuCaps, "CPU_PMU_CAPS"},
    {kFeatureClockData, "CLOCK_DATA"},
    {kFeatureHybridTopology, "HYBRID_TOPOLOGY"},
    {kFeaturePmuCaps, "PMU_CAPS"},
    {kFeatureCpuDomainInfo, "CPU_DOMAIN_INFO"},
    {kFeatureEMachine, "E_MACHINE"},
    {kFeatureCacheLineSize, "CLN_SIZE"},
    {kFeatureImported, "IMPORTED", "imported from"},
    {kFeatureRecorder, "RECORDER", "how the recorder ran"},
    {kFeatureChainQuality, "CHAIN_QUALITY", "quality of call chains"},
    {kFeatureNames, "NAMES", "names"},
    {kFeatureSums, "SUMS", "sums of samples"},
    {kFeatureCode, "CODE", "code"},
};

// Returns nullptr for an unknown bit.
constexpr const NamedFeature* FindFeature(uint64_t bit) {
  for (const NamedFeature& feature : kNamedFeatures) {
    if (static_cast<uint64_t>(feature.bit) == bit) return &feature;
  }
  return nullptr;
}

// A file's table of feature sections has this many entries for our own features. Entries that are
// not used yet are spare.
inline constexpr size_t kRoomForOwnFeatures = 8;

// struct build_id_event { struct perf_event_header header; pid_t pid; u8 build_id[24];
//                         char filename[]; };
// With this bit in header.misc, build_id[20] is the size of the build-id; without it, the size is
// 20.
inline constexpr uint16_t kMiscBuildIdSize = 1 << 15;
inline constexpr size_t kBuildIdMax = 20;
inline constexpr size_t kBuildIdField = 24;
inline constexpr size_t kBuildIdFixedSize = 8 + 4 + kBuildIdField;

// In streams, HEADER_EVENT_TYPE records carry the feature sections that a HEADER_FEATURE record
// cannot: sections above 31, which perf 6.1 refuses, and sections that are too large for one
// record. Such a section is cut into pieces, one per record, in order. Every perf since 3.12 skips
// HEADER_EVENT_TYPE records.
//
//   { header (65) │ u64 config, all ones │ char name[64] │ u64 feature, size of the section,
//     size of this piece │ piece, padded to 8 }
inline constexpr uint64_t kCarrierConfig = UINT64_MAX;
inline constexpr char kCarrierName[] = "profiler: piece of a feature section";

// PERF_EVENT_UPDATE__*: the attribute of an event that an EVENT_UPDATE record sets.
inline constexpr uint64_t kEventUpdateUnit = 0;
inline constexpr uint64_t kEventUpdateScale = 1;
inline constexpr uint64_t kEventUpdateName = 2;
inline constexpr uint64_t kEventUpdateCpus = 3;

}  // namespace profiler::perf_data
