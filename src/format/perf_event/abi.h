// The numbers of Linux's perf_event ABI, as of Linux 7.2. Defined here because the installed header
// may be older than the recordings that are read. Source: include/uapi/linux/perf_event.h.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace profiler::perf_event {

// PERF_RECORD_*. Types below 64 are the kernel's; types from 64 on are perf's own
// (tools/lib/perf/include/perf/event.h).
enum RecordType : uint32_t {
  kRecordMmap = 1,
  kRecordLost = 2,
  kRecordComm = 3,
  kRecordExit = 4,
  kRecordThrottle = 5,
  kRecordUnthrottle = 6,
  kRecordFork = 7,
  kRecordRead = 8,
  kRecordSample = 9,
  kRecordMmap2 = 10,
  kRecordAux = 11,
  kRecordItraceStart = 12,
  kRecordLostSamples = 13,
  kRecordSwitch = 14,
  kRecordSwitchCpuWide = 15,
  kRecordNamespaces = 16,
  kRecordKsymbol = 17,
  kRecordBpfEvent = 18,
  kRecordCgroup = 19,
  kRecordTextPoke = 20,
  kRecordAuxOutputHwId = 21,
  kRecordCallchainDeferred = 22,

  kRecordUserFirst = 64,
  kRecordHeaderAttr = 64,
  kRecordHeaderEventType = 65,
  kRecordHeaderTracingData = 66,
  kRecordHeaderBuildId = 67,
  kRecordFinishedRound = 68,
  kRecordIdIndex = 69,
  kRecordAuxtraceInfo = 70,
  kRecordAuxtrace = 71,
  kRecordAuxtraceError = 72,
  kRecordThreadMap = 73,
  kRecordCpuMap = 74,
  kRecordStatConfig = 75,
  kRecordStat = 76,
  kRecordStatRound = 77,
  kRecordEventUpdate = 78,
  kRecordTimeConv = 79,
  kRecordHeaderFeature = 80,
  kRecordCompressed = 81,
  kRecordFinishedInit = 82,
  kRecordCompressed2 = 83,
  kRecordBpfMetadata = 84,
  kRecordSchedstatCpu = 85,
  kRecordSchedstatDomain = 86,
};

// PERF_RECORD_MISC_*
inline constexpr uint16_t kMiscCpumodeMask = 7;
inline constexpr uint16_t kMiscCpumodeUnknown = 0;
inline constexpr uint16_t kMiscKernel = 1;
inline constexpr uint16_t kMiscUser = 2;
inline constexpr uint16_t kMiscHypervisor = 3;
inline constexpr uint16_t kMiscGuestKernel = 4;
inline constexpr uint16_t kMiscGuestUser = 5;
inline constexpr uint16_t kMiscMmapData = 1 << 13;   // MMAP, MMAP2: a data mapping
inline constexpr uint16_t kMiscCommExec = 1 << 13;   // COMM: the name changed by exec
inline constexpr uint16_t kMiscForkExec = 1 << 13;   // FORK: set only by perf
inline constexpr uint16_t kMiscSwitchOut = 1 << 13;  // SWITCH: the thread was switched out
inline constexpr uint16_t kMiscSwitchOutPreempt = 1 << 14;
inline constexpr uint16_t kMiscMmapBuildId = 1 << 14;  // MMAP2 carries a build-id
inline constexpr uint16_t kMiscExactIp = 1 << 14;      // SAMPLE: the ip is exact

// PERF_SAMPLE_*
inline constexpr uint64_t kSampleIp = 1ull << 0;
inline constexpr uint64_t kSampleTid = 1ull << 1;
inline constexpr uint64_t kSampleTime = 1ull << 2;
inline constexpr uint64_t kSampleAddr = 1ull << 3;
inline constexpr uint64_t kSampleRead = 1ull << 4;
inline constexpr uint64_t kSampleCallchain = 1ull << 5;
inline constexpr uint64_t kSampleId = 1ull << 6;
inline constexpr uint64_t kSampleCpu = 1ull << 7;
inline constexpr uint64_t kSamplePeriod = 1ull << 8;
inline constexpr uint64_t kSampleStreamId = 1ull << 9;
inline constexpr uint64_t kSampleRaw = 1ull << 10;
inline constexpr uint64_t kSampleBranchStack = 1ull << 11;
inline constexpr uint64_t kSampleRegsUser = 1ull << 12;
inline constexpr uint64_t kSampleStackUser = 1ull << 13;
inline constexpr uint64_t kSampleWeight = 1ull << 14;
inline constexpr uint64_t kSampleDataSrc = 1ull << 15;
inline constexpr uint64_t kSampleIdentifier = 1ull << 16;
inline constexpr uint64_t kSampleTransaction = 1ull << 17;
inline constexpr uint64_t kSampleRegsIntr = 1ull << 18;
inline constexpr uint64_t kSamplePhysAddr = 1ull << 19;
inline constexpr uint64_t kSampleAux = 1ull << 20;
inline constexpr uint64_t kSampleCgroup = 1ull << 21;
inline constexpr uint64_t kSampleDataPageSize = 1ull << 22;
inline constexpr uint64_t kSampleCodePageSize = 1ull << 23;
inline constexpr uint64_t kSampleWeightStruct = 1ull << 24;
inline constexpr uint64_t kSampleAll = (1ull << 25) - 1;

// PERF_FORMAT_*
inline constexpr uint64_t kFormatTotalTimeEnabled = 1 << 0;
inline constexpr uint64_t kFormatTotalTimeRunning = 1 << 1;
inline constexpr uint64_t kFormatId = 1 << 2;
inline constexpr uint64_t kFormatGroup = 1 << 3;
inline constexpr uint64_t kFormatLost = 1 << 4;

// PERF_SAMPLE_BRANCH_* that change the layout of BRANCH_STACK
inline constexpr uint64_t kBranchHwIndex = 1ull << 17;
inline constexpr uint64_t kBranchCounters = 1ull << 19;

// PERF_SAMPLE_REGS_ABI_*
inline constexpr uint64_t kRegsAbiNone = 0;
inline constexpr uint64_t kRegsAbi32 = 1;
inline constexpr uint64_t kRegsAbi64 = 2;

// The largest record: a record's size is a u16 and a multiple of 8.
inline constexpr size_t kMaxRecordSize = 65528;

// PERF_CONTEXT_*: markers inside a call chain. An entry >= kContextMax is a marker, never an
// address.
inline constexpr uint64_t kContextHypervisor = -32ull;
inline constexpr uint64_t kContextKernel = -128ull;
inline constexpr uint64_t kContextUser = -512ull;
inline constexpr uint64_t kContextUserDeferred = -640ull;
inline constexpr uint64_t kContextGuest = -2048ull;
inline constexpr uint64_t kContextGuestKernel = -2176ull;
inline constexpr uint64_t kContextGuestUser = -2560ull;
inline constexpr uint64_t kContextMax = -4095ull;
constexpr bool IsContext(uint64_t entry) { return entry >= kContextMax; }

// PERF_TYPE_* and the software and hardware events
inline constexpr uint32_t kTypeHardware = 0;
inline constexpr uint32_t kTypeSoftware = 1;
inline constexpr uint32_t kTypeTracepoint = 2;
inline constexpr uint32_t kTypeHwCache = 3;
inline constexpr uint32_t kTypeRaw = 4;
inline constexpr uint32_t kTypeBreakpoint = 5;

// HW_BREAKPOINT_*, include/uapi/linux/hw_breakpoint.h
inline constexpr uint32_t kBreakpointExecute = 4;
inline constexpr std::pair<char, uint32_t> kBreakpointAccesses[] = {
    {'r', 1}, {'w', 2}, {'x', kBreakpointExecute}};

}  // namespace profiler::perf_event
