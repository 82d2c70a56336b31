#include "src/format/perf_event/describe.h"

#include <array>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/record_types.h"

namespace profiler::perf_event {
namespace {

// Names of the types from kRecordUserFirst on.
constexpr std::array<std::string_view, 23> kPerfRecords = {
    "ATTR",      "EVENT_TYPE",    "TRACING_DATA", "BUILD_ID",       "FINISHED_ROUND",
    "ID_INDEX",  "AUXTRACE_INFO", "AUXTRACE",     "AUXTRACE_ERROR", "THREAD_MAP",
    "CPU_MAP",   "STAT_CONFIG",   "STAT",         "STAT_ROUND",     "EVENT_UPDATE",
    "TIME_CONV", "FEATURE",       "COMPRESSED",   "FINISHED_INIT",  "COMPRESSED2",
};

constexpr std::array<std::string_view, 25> kSampleBits = {
    "IP",
    "TID",
    "TIME",
    "ADDR",
    "READ",
    "CALLCHAIN",
    "ID",
    "CPU",
    "PERIOD",
    "STREAM_ID",
    "RAW",
    "BRANCH_STACK",
    "REGS_USER",
    "STACK_USER",
    "WEIGHT",
    "DATA_SRC",
    "IDENTIFIER",
    "TRANSACTION",
    "REGS_INTR",
    "PHYS_ADDR",
    "AUX",
    "CGROUP",
    "DATA_PAGE_SIZE",
    "CODE_PAGE_SIZE",
    "WEIGHT_STRUCT",
};

constexpr std::array<std::string_view, 5> kReadBits = {
    "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
};

constexpr std::array<std::string_view, 20> kBranchBits = {
    "USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
    "ABORT_TX", "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
    "NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",  "COUNTERS",
};

constexpr std::array<std::string_view, 6> kTypes = {
    "PERF_TYPE_HARDWARE", "PERF_TYPE_SOFTWARE", "PERF_TYPE_TRACEPOINT",
    "PERF_TYPE_HW_CACHE", "PERF_TYPE_RAW",      "PERF_TYPE_BREAKPOINT",
};

constexpr std::array<std::string_view, 10> kHardwareEvents = {
    "PERF_COUNT_HW_CPU_CYCLES",
    "PERF_COUNT_HW_INSTRUCTIONS",
    "PERF_COUNT_HW_CACHE_REFERENCES",
    "PERF_COUNT_HW_CACHE_MISSES",
    "PERF_COUNT_HW_BRANCH_INSTRUCTIONS",
    "PERF_COUNT_HW_BRANCH_MISSES",
    "PERF_COUNT_HW_BUS_CYCLES",
    "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND",
    "PERF_COUNT_HW_STALLED_CYCLES_BACKEND",
    "PERF_COUNT_HW_REF_CPU_CYCLES",
};

constexpr std::array<std::string_view, 12> kSoftwareEvents = {
    "PERF_COUNT_SW_CPU_CLOCK",        "PERF_COUNT_SW_TASK_CLOCK",
    "PERF_COUNT_SW_PAGE_FAULTS",      "PERF_COUNT_SW_CONTEXT_SWITCHES",
    "PERF_COUNT_SW_CPU_MIGRATIONS",   "PERF_COUNT_SW_PAGE_FAULTS_MIN",
    "PERF_COUNT_SW_PAGE_FAULTS_MAJ",  "PERF_COUNT_SW_ALIGNMENT_FAULTS",
    "PERF_COUNT_SW_EMULATION_FAULTS", "PERF_COUNT_SW_DUMMY",
    "PERF_COUNT_SW_BPF_OUTPUT",       "PERF_COUNT_SW_CGROUP_SWITCHES",
};

constexpr std::array<std::string_view, 7> kCacheConstants = {"L1D",  "L1I", "LL",  "DTLB",
                                                             "ITLB", "BPU", "NODE"};
constexpr std::array<std::string_view, 3> kCacheOperations = {"READ", "WRITE", "PREFETCH"};

struct FlagName {
  AttrFlag flag;
  std::string_view name;
};

// Names of the flags, in the order of the bits, which is also perf's order.
constexpr FlagName kFlags[] = {
    {kAttrDisabled, "disabled"},
    {kAttrInherit, "inherit"},
    {kAttrPinned, "pinned"},
    {kAttrExclusive, "exclusive"},
    {kAttrExcludeUser, "exclude_user"},
    {kAttrExcludeKernel, "exclude_kernel"},
    {kAttrExcludeHv, "exclude_hv"},
    {kAttrExcludeIdle, "exclude_idle"},
    {kAttrMmap, "mmap"},
    {kAttrComm, "comm"},
    {kAttrFreq, "freq"},
    {kAttrInheritStat, "inherit_stat"},
    {kAttrEnableOnExec, "enable_on_exec"},
    {kAttrTask, "task"},
    {kAttrWatermark, "watermark"},
    {kAttrMmapData, "mmap_data"},
    {kAttrSampleIdAll, "sample_id_all"},
    {kAttrExcludeHost, "exclude_host"},
    {kAttrExcludeGuest, "exclude_guest"},
    {kAttrExcludeCallchainKernel, "exclude_callchain_kernel"},
    {kAttrExcludeCallchainUser, "exclude_callchain_user"},
    {kAttrMmap2, "mmap2"},
    {kAttrCommExec, "comm_exec"},
    {kAttrUseClockid, "use_clockid"},
    {kAttrContextSwitch, "context_switch"},
    {kAttrWriteBackward, "write_backward"},
    {kAttrNamespaces, "namespaces"},
    {kAttrKsymbol, "ksymbol"},
    {kAttrBpfEvent, "bpf_event"},
    {kAttrAuxOutput, "aux_output"},
    {kAttrCgroup, "cgroup"},
    {kAttrTextPoke, "text_poke"},
    {kAttrBuildId, "build_id"},
    {kAttrInheritThread, "inherit_thread"},
    {kAttrRemoveOnExec, "remove_on_exec"},
    {kAttrSigtrap, "sigtrap"},
    {kAttrDeferCallchain, "defer_callchain"},
    {kAttrDeferOutput, "defer_output"},
};

std::string DescribeBits(uint64_t bits, std::span<const std::string_view> names) {
  std::string text;
  const auto add = [&](const std::string& name) {
    if (!text.empty()) text += '|';
    text += name;
  };
  for (size_t i = 0; i < names.size(); ++i) {
    if ((bits >> i & 1) != 0) add(std::string(names[i]));
  }
  const uint64_t unknown = bits >> names.size() << names.size();
  if (unknown != 0) add(absl::StrFormat("%#x", unknown));
  return text;
}

std::string Hexadecimal(uint64_t value) { return value == 0 ? "0" : absl::StrFormat("%#x", value); }

// Returns, for example, "0x9 (PERF_COUNT_SW_DUMMY)".
std::string Named(std::string number, uint64_t value, std::span<const std::string_view> names) {
  if (value >= names.size()) return number;
  return absl::StrCat(number, " (", View(names[value]), ")");
}

// Returns "0x10000 (PERF_COUNT_HW_CACHE_RESULT_MISS | PERF_COUNT_HW_CACHE_OP_READ | …_L1D)"
std::string NamedCache(std::string number, uint64_t config) {
  const uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;
  if (cache >= kCacheConstants.size() || operation >= kCacheOperations.size() || result > 1)
    return number;
  return absl::StrCat(number, " (PERF_COUNT_HW_CACHE_RESULT_", result == 0 ? "ACCESS" : "MISS",
                      " | PERF_COUNT_HW_CACHE_OP_", View(kCacheOperations[operation]),
                      " | PERF_COUNT_HW_CACHE_", View(kCacheConstants[cache]), ")");
}

std::string DescribeConfig(const Attr& attr) {
  const std::string number = Hexadecimal(attr.config);
  // The upper half of config selects a PMU on machines with several kinds of CPU.
  const uint64_t config = attr.config & 0xffffffff;
  if (attr.type == kTypeHardware) return Named(number, config, kHardwareEvents);
  if (attr.type == kTypeSoftware) return Named(number, attr.config, kSoftwareEvents);
  if (attr.type == kTypeHwCache) return NamedCache(number, config);
  return number;
}

}  // namespace

std::string_view RecordTypeName(uint32_t type) {
  switch (type) {
#define PROFILER_CASE(number, name, Record) \
  case number:                              \
    return name;
    PROFILER_RECORD_TYPES(PROFILER_CASE, PROFILER_CASE)
#undef PROFILER_CASE
    default:
      break;
  }
  if (type >= kRecordUserFirst && type - kRecordUserFirst < kPerfRecords.size()) {
    return kPerfRecords[type - kRecordUserFirst];
  }
  return {};
}

std::string DescribeSampleType(uint64_t sample_type) {
  return DescribeBits(sample_type, kSampleBits);
}

std::string DescribeReadFormat(uint64_t read_format) {
  return DescribeBits(read_format, kReadBits);
}

std::vector<std::pair<std::string, std::string>> DescribeAttr(const Attr& attr) {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&](std::string_view name, std::string value) {
    fields.emplace_back(name, std::move(value));
  };
  const auto add_number = [&](std::string_view name, int64_t value) {
    if (value != 0) add(name, absl::StrCat(value));
  };
  const auto add_hexadecimal = [&](std::string_view name, uint64_t value) {
    if (value != 0) add(name, absl::StrFormat("%#x", value));
  };

  add("type", Named(absl::StrCat(attr.type), attr.type, kTypes));
  add_number("size", attr.size);
  add("config", DescribeConfig(attr));
  if (attr.sample_period != 0) {
    add("{ sample_period, sample_freq }", absl::StrCat(attr.sample_period));
  }
  if (attr.sample_type != 0) add("sample_type", DescribeSampleType(attr.sample_type));
  if (attr.read_format != 0) add("read_format", DescribeReadFormat(attr.read_format));
  for (const FlagName& flag : kFlags) {
    if (attr.has(flag.flag)) add(flag.name, "1");
    if (flag.flag == kAttrWatermark)
      add_number("precise_ip", attr.flags >> kAttrPreciseIpShift & 3);
  }
  if (attr.wakeup_events != 0) {
    add("{ wakeup_events, wakeup_watermark }", absl::StrCat(attr.wakeup_events));
  }
  add_number("bp_type", attr.bp_type);
  add_hexadecimal("{ bp_addr, config1 }", attr.config1);
  add_hexadecimal("{ bp_len, config2 }", attr.config2);
  if (attr.branch_sample_type != 0) {
    add("branch_sample_type", DescribeBits(attr.branch_sample_type, kBranchBits));
  }
  add_hexadecimal("sample_regs_user", attr.sample_regs_user);
  add_number("sample_stack_user", attr.sample_stack_user);
  add_number("clockid", attr.clockid);
  add_hexadecimal("sample_regs_intr", attr.sample_regs_intr);
  add_number("aux_watermark", attr.aux_watermark);
  add_number("sample_max_stack", attr.sample_max_stack);
  add_number("aux_sample_size", attr.aux_sample_size);
  add_hexadecimal("aux_action", attr.aux_action);
  add_hexadecimal("sig_data", attr.sig_data);
  add_hexadecimal("config3", attr.config3);
  add_hexadecimal("config4", attr.config4);
  return fields;
}

}  // namespace profiler::perf_event
