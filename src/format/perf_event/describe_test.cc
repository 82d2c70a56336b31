#include "src/format/perf_event/describe.h"

#include <string>

#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

std::string OneLine(const Attr& attr) {
  std::string text;
  for (const auto& [name, value] : DescribeAttr(attr)) {
    text += (text.empty() ? "" : ", ") + name + " = " + value;
  }
  return text;
}

TEST(RecordTypeName, KnowsTheKernelsAndPerfsOwn) {
  EXPECT_EQ(RecordTypeName(kRecordSample), "SAMPLE");
  EXPECT_EQ(RecordTypeName(kRecordCallchainDeferred), "CALLCHAIN_DEFERRED");
  EXPECT_EQ(RecordTypeName(kRecordFinishedRound), "FINISHED_ROUND");
  EXPECT_EQ(RecordTypeName(kRecordCompressed2), "COMPRESSED2");
  EXPECT_EQ(RecordTypeName(0), "");
  EXPECT_EQ(RecordTypeName(63), "");
  EXPECT_EQ(RecordTypeName(84), "");
  EXPECT_EQ(RecordTypeName(0x8001), "");
}

TEST(DescribeAttr, ReadsAsPerfsHeaderDoes) {
  Attr attr;
  attr.type = kTypeSoftware;
  attr.size = 128;
  attr.sample_period = 25000;
  attr.sample_type = kSampleIp | kSampleTid | kSampleTime | kSampleCallchain;
  attr.read_format = kFormatId | kFormatLost;
  attr.flags =
      kAttrDisabled | kAttrInherit | kAttrFreq | kAttrSampleIdAll | 2ull << kAttrPreciseIpShift;
  EXPECT_EQ(OneLine(attr),
            "type = 1 (PERF_TYPE_SOFTWARE), size = 128, config = 0 (PERF_COUNT_SW_CPU_CLOCK), "
            "{ sample_period, sample_freq } = 25000, sample_type = IP|TID|TIME|CALLCHAIN, "
            "read_format = ID|LOST, disabled = 1, inherit = 1, freq = 1, precise_ip = 2, "
            "sample_id_all = 1");
}

TEST(DescribeAttr, NamesTheBranchesThatAreRecorded) {
  Attr attr;
  attr.sample_type = kSampleBranchStack;
  attr.branch_sample_type = 1 | 1 << 5 | kBranchHwIndex | kBranchCounters | 1 << 20;
  EXPECT_EQ(OneLine(attr),
            "type = 0 (PERF_TYPE_HARDWARE), config = 0 (PERF_COUNT_HW_CPU_CYCLES), "
            "sample_type = BRANCH_STACK, "
            "branch_sample_type = USER|ANY_RETURN|HW_INDEX|COUNTERS|0x100000");
}

TEST(DescribeAttr, NamesEventsOfOneKindOfCpuAndOfCaches) {
  EXPECT_EQ(OneLine({.type = kTypeHardware, .config = 0x400000001}),
            "type = 0 (PERF_TYPE_HARDWARE), config = 0x400000001 (PERF_COUNT_HW_INSTRUCTIONS)");
  EXPECT_EQ(OneLine({.type = kTypeHwCache, .config = 0x10103}),
            "type = 3 (PERF_TYPE_HW_CACHE), config = 0x10103 (PERF_COUNT_HW_CACHE_RESULT_MISS | "
            "PERF_COUNT_HW_CACHE_OP_WRITE | PERF_COUNT_HW_CACHE_DTLB)");
  EXPECT_EQ(OneLine({.type = kTypeHwCache, .config = 0x20103}),
            "type = 3 (PERF_TYPE_HW_CACHE), config = 0x20103");
}

TEST(DescribeAttr, ShowsWhatItDoesNotKnowAsNumbers) {
  Attr attr;
  attr.type = 17;
  attr.config = 0x3c;
  attr.sample_type = 1ull << 40;
  EXPECT_EQ(OneLine(attr), "type = 17, config = 0x3c, sample_type = 0x10000000000");
}

}  // namespace
}  // namespace profiler::perf_event
