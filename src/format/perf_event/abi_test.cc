// Compares our numbers with the installed kernel header, which may be older or newer than ours.
// Names that the header lacks are skipped. If the header has a name that abi.h lacks, the test does
// not compile.

#include "src/format/perf_event/abi.h"

#include <linux/perf_event.h>

#include <cstddef>

#include "gtest/gtest.h"
#include "src/format/perf_event/attr.h"

namespace profiler::perf_event {
namespace {

static_assert(PERF_SAMPLE_MAX <= kSampleAll + 1, "the kernel has a new PERF_SAMPLE bit");
static_assert(PERF_RECORD_MAX <= int{kRecordCallchainDeferred} + 1, "the kernel has a new record");
static_assert(PERF_FORMAT_MAX <= kFormatLost << 1, "the kernel has a new PERF_FORMAT bit");
static_assert(sizeof(perf_event_attr) <= sizeof(Attr), "the kernel's attr has grown");

static_assert(kRecordMmap == int{PERF_RECORD_MMAP});
static_assert(kRecordLost == int{PERF_RECORD_LOST});
static_assert(kRecordComm == int{PERF_RECORD_COMM});
static_assert(kRecordExit == int{PERF_RECORD_EXIT});
static_assert(kRecordThrottle == int{PERF_RECORD_THROTTLE});
static_assert(kRecordUnthrottle == int{PERF_RECORD_UNTHROTTLE});
static_assert(kRecordFork == int{PERF_RECORD_FORK});
static_assert(kRecordRead == int{PERF_RECORD_READ});
static_assert(kRecordSample == int{PERF_RECORD_SAMPLE});
static_assert(kRecordMmap2 == int{PERF_RECORD_MMAP2});
static_assert(kRecordAux == int{PERF_RECORD_AUX});
static_assert(kRecordItraceStart == int{PERF_RECORD_ITRACE_START});
static_assert(kRecordLostSamples == int{PERF_RECORD_LOST_SAMPLES});
static_assert(kRecordSwitch == int{PERF_RECORD_SWITCH});
static_assert(kRecordSwitchCpuWide == int{PERF_RECORD_SWITCH_CPU_WIDE});
static_assert(kRecordNamespaces == int{PERF_RECORD_NAMESPACES});
static_assert(kRecordKsymbol == int{PERF_RECORD_KSYMBOL});
static_assert(kRecordBpfEvent == int{PERF_RECORD_BPF_EVENT});
static_assert(kRecordCgroup == int{PERF_RECORD_CGROUP});
static_assert(kRecordTextPoke == int{PERF_RECORD_TEXT_POKE});
static_assert(kRecordAuxOutputHwId == int{PERF_RECORD_AUX_OUTPUT_HW_ID});

static_assert(kSampleIp == PERF_SAMPLE_IP);
static_assert(kSampleTid == PERF_SAMPLE_TID);
static_assert(kSampleTime == PERF_SAMPLE_TIME);
static_assert(kSampleAddr == PERF_SAMPLE_ADDR);
static_assert(kSampleRead == PERF_SAMPLE_READ);
static_assert(kSampleCallchain == PERF_SAMPLE_CALLCHAIN);
static_assert(kSampleId == PERF_SAMPLE_ID);
static_assert(kSampleCpu == PERF_SAMPLE_CPU);
static_assert(kSamplePeriod == PERF_SAMPLE_PERIOD);
static_assert(kSampleStreamId == PERF_SAMPLE_STREAM_ID);
static_assert(kSampleRaw == PERF_SAMPLE_RAW);
static_assert(kSampleBranchStack == PERF_SAMPLE_BRANCH_STACK);
static_assert(kSampleRegsUser == PERF_SAMPLE_REGS_USER);
static_assert(kSampleStackUser == PERF_SAMPLE_STACK_USER);
static_assert(kSampleWeight == PERF_SAMPLE_WEIGHT);
static_assert(kSampleDataSrc == PERF_SAMPLE_DATA_SRC);
static_assert(kSampleIdentifier == PERF_SAMPLE_IDENTIFIER);
static_assert(kSampleTransaction == PERF_SAMPLE_TRANSACTION);
static_assert(kSampleRegsIntr == PERF_SAMPLE_REGS_INTR);
static_assert(kSamplePhysAddr == PERF_SAMPLE_PHYS_ADDR);
static_assert(kSampleAux == PERF_SAMPLE_AUX);
static_assert(kSampleCgroup == PERF_SAMPLE_CGROUP);
static_assert(kSampleDataPageSize == PERF_SAMPLE_DATA_PAGE_SIZE);
static_assert(kSampleCodePageSize == PERF_SAMPLE_CODE_PAGE_SIZE);
static_assert(kSampleWeightStruct == PERF_SAMPLE_WEIGHT_STRUCT);

static_assert(kFormatTotalTimeEnabled == PERF_FORMAT_TOTAL_TIME_ENABLED);
static_assert(kFormatTotalTimeRunning == PERF_FORMAT_TOTAL_TIME_RUNNING);
static_assert(kFormatId == PERF_FORMAT_ID);
static_assert(kFormatGroup == PERF_FORMAT_GROUP);
static_assert(kFormatLost == PERF_FORMAT_LOST);

static_assert(kContextHypervisor == static_cast<uint64_t>(PERF_CONTEXT_HV));
static_assert(kContextKernel == static_cast<uint64_t>(PERF_CONTEXT_KERNEL));
static_assert(kContextUser == static_cast<uint64_t>(PERF_CONTEXT_USER));
static_assert(kContextGuest == static_cast<uint64_t>(PERF_CONTEXT_GUEST));
static_assert(kContextGuestKernel == static_cast<uint64_t>(PERF_CONTEXT_GUEST_KERNEL));
static_assert(kContextGuestUser == static_cast<uint64_t>(PERF_CONTEXT_GUEST_USER));
static_assert(kContextMax == static_cast<uint64_t>(PERF_CONTEXT_MAX));

static_assert(kMiscKernel == PERF_RECORD_MISC_KERNEL);
static_assert(kMiscUser == PERF_RECORD_MISC_USER);
static_assert(kMiscHypervisor == PERF_RECORD_MISC_HYPERVISOR);
static_assert(kMiscGuestKernel == PERF_RECORD_MISC_GUEST_KERNEL);
static_assert(kMiscGuestUser == PERF_RECORD_MISC_GUEST_USER);
static_assert(kMiscMmapData == PERF_RECORD_MISC_MMAP_DATA);
static_assert(kMiscCommExec == PERF_RECORD_MISC_COMM_EXEC);
static_assert(kMiscSwitchOut == PERF_RECORD_MISC_SWITCH_OUT);
static_assert(kMiscMmapBuildId == PERF_RECORD_MISC_MMAP_BUILD_ID);

static_assert(kBranchHwIndex == PERF_SAMPLE_BRANCH_HW_INDEX);

static_assert(offsetof(Attr, flags) == offsetof(perf_event_attr, read_format) + 8);
static_assert(offsetof(Attr, wakeup_events) == offsetof(perf_event_attr, wakeup_events));
static_assert(offsetof(Attr, branch_sample_type) == offsetof(perf_event_attr, branch_sample_type));
static_assert(offsetof(Attr, sample_stack_user) == offsetof(perf_event_attr, sample_stack_user));
static_assert(offsetof(Attr, clockid) == offsetof(perf_event_attr, clockid));
static_assert(offsetof(Attr, sample_regs_intr) == offsetof(perf_event_attr, sample_regs_intr));
static_assert(offsetof(Attr, sample_max_stack) == offsetof(perf_event_attr, sample_max_stack));
static_assert(offsetof(Attr, aux_sample_size) == offsetof(perf_event_attr, aux_sample_size));
static_assert(offsetof(Attr, sig_data) == offsetof(perf_event_attr, sig_data));

// Expects that the kernel's bit-field, with only that flag set, equals our constant.
#define PROFILER_EXPECT_FLAG(ours, theirs)                                                     \
  do {                                                                                         \
    perf_event_attr attr{};                                                                    \
    attr.theirs = 1;                                                                           \
    uint64_t flags;                                                                            \
    __builtin_memcpy(&flags, reinterpret_cast<const char*>(&attr) + offsetof(Attr, flags), 8); \
    EXPECT_EQ(flags, static_cast<uint64_t>(ours)) << #theirs;                                  \
  } while (false)

TEST(AbiTest, AttrFlagsAreWhereTheKernelsBitFieldHasThem) {
  PROFILER_EXPECT_FLAG(kAttrDisabled, disabled);
  PROFILER_EXPECT_FLAG(kAttrInherit, inherit);
  PROFILER_EXPECT_FLAG(kAttrPinned, pinned);
  PROFILER_EXPECT_FLAG(kAttrExclusive, exclusive);
  PROFILER_EXPECT_FLAG(kAttrExcludeUser, exclude_user);
  PROFILER_EXPECT_FLAG(kAttrExcludeKernel, exclude_kernel);
  PROFILER_EXPECT_FLAG(kAttrExcludeHv, exclude_hv);
  PROFILER_EXPECT_FLAG(kAttrExcludeIdle, exclude_idle);
  PROFILER_EXPECT_FLAG(kAttrMmap, mmap);
  PROFILER_EXPECT_FLAG(kAttrComm, comm);
  PROFILER_EXPECT_FLAG(kAttrFreq, freq);
  PROFILER_EXPECT_FLAG(kAttrInheritStat, inherit_stat);
  PROFILER_EXPECT_FLAG(kAttrEnableOnExec, enable_on_exec);
  PROFILER_EXPECT_FLAG(kAttrTask, task);
  PROFILER_EXPECT_FLAG(kAttrWatermark, watermark);
  PROFILER_EXPECT_FLAG(1ull << kAttrPreciseIpShift, precise_ip);
  PROFILER_EXPECT_FLAG(kAttrMmapData, mmap_data);
  PROFILER_EXPECT_FLAG(kAttrSampleIdAll, sample_id_all);
  PROFILER_EXPECT_FLAG(kAttrExcludeHost, exclude_host);
  PROFILER_EXPECT_FLAG(kAttrExcludeGuest, exclude_guest);
  PROFILER_EXPECT_FLAG(kAttrExcludeCallchainKernel, exclude_callchain_kernel);
  PROFILER_EXPECT_FLAG(kAttrExcludeCallchainUser, exclude_callchain_user);
  PROFILER_EXPECT_FLAG(kAttrMmap2, mmap2);
  PROFILER_EXPECT_FLAG(kAttrCommExec, comm_exec);
  PROFILER_EXPECT_FLAG(kAttrUseClockid, use_clockid);
  PROFILER_EXPECT_FLAG(kAttrContextSwitch, context_switch);
  PROFILER_EXPECT_FLAG(kAttrWriteBackward, write_backward);
  PROFILER_EXPECT_FLAG(kAttrNamespaces, namespaces);
  PROFILER_EXPECT_FLAG(kAttrKsymbol, ksymbol);
  PROFILER_EXPECT_FLAG(kAttrBpfEvent, bpf_event);
  PROFILER_EXPECT_FLAG(kAttrAuxOutput, aux_output);
  PROFILER_EXPECT_FLAG(kAttrCgroup, cgroup);
  PROFILER_EXPECT_FLAG(kAttrTextPoke, text_poke);
  PROFILER_EXPECT_FLAG(kAttrBuildId, build_id);
  PROFILER_EXPECT_FLAG(kAttrInheritThread, inherit_thread);
  PROFILER_EXPECT_FLAG(kAttrRemoveOnExec, remove_on_exec);
  PROFILER_EXPECT_FLAG(kAttrSigtrap, sigtrap);
}

}  // namespace
}  // namespace profiler::perf_event
