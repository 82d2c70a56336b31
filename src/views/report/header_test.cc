#include "src/views/report/header.h"

#include "gtest/gtest.h"

namespace profiler::report {
namespace {

TEST(HeaderTest, ShowsWhatIsKnownOfTheRecording) {
  const RecordingHeader header{
      .captured_on = "Sat Nov 21 05:24:06 2026",
      .data_offset = 456,
      .data_size = 435544,
      .features_offset = 436000,
      .hostname = "vm",
      .os_release = "6.18.44",
      .perf_version = "1.0",
      .arch = "x86_64",
      .cpus_online = 2,
      .cpus_available = 4,
      .cpu_description = "AMD EPYC",
      .cpuid = "AuthenticAMD,25,1,1",
      .total_memory_kb = 24682416,
      .command_line = {"profiler", "record", "-g"},
      .events = {{.name = "cpu-clock",
                  .ids = {21, 22},
                  .fields = {{"type", "1 (PERF_TYPE_SOFTWARE)"}, {"size", "136"}}},
                 {.name = "dummy"}},
      .clock_resolution_ns = 1,
      .clock = "monotonic (1)",
      .first_sample_ns = 2180'110'871'234,
      .last_sample_ns = 2184'010'471'234,
      .features = {{16, {"pmu mappings: software = 1"}},
                   {27, {"compressed : Zstd, level = 1, ratio = 2"}},
                   {200, {"feature 200 : unknown, 8 bytes"}}},
      .missing_features = {"TRACING_DATA", "STAT"}};
  EXPECT_EQ(FormatRecordingHeader(header),
            "# ========\n"
            "# captured on    : Sat Nov 21 05:24:06 2026\n"
            "# header version : 1\n"
            "# data offset    : 456\n"
            "# data size      : 435544\n"
            "# feat offset    : 436000\n"
            "# hostname : vm\n"
            "# os release : 6.18.44\n"
            "# perf version : 1.0\n"
            "# arch : x86_64\n"
            "# nrcpus online : 2\n"
            "# nrcpus avail : 4\n"
            "# cpudesc : AMD EPYC\n"
            "# cpuid : AuthenticAMD,25,1,1\n"
            "# total memory : 24682416 kB\n"
            "# cmdline : profiler record -g \n"
            "# event : name = cpu-clock, , id = { 21, 22 }, type = 1 (PERF_TYPE_SOFTWARE), "
            "size = 136\n"
            "# event : name = dummy, \n"
            "# pmu mappings: software = 1\n"
            "# time of first sample : 2180.110871\n"
            "# time of last sample : 2184.010471\n"
            "# sample duration :   3899.600 ms\n"
            "# clockid frequency: 1000 MHz\n"
            "# compressed : Zstd, level = 1, ratio = 2\n"
            "# clockid: monotonic (1)\n"
            "# feature 200 : unknown, 8 bytes\n"
            "# missing features: TRACING_DATA STAT \n"
            "# ========\n"
            "#\n");
}

TEST(HeaderTest, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(FormatRecordingHeader({}),
            "# ========\n"
            "# header version : 1\n"
            "# ========\n"
            "#\n");
}

TEST(HeaderTest, TextOfTheRecordingCannotAddLines) {
  const std::string text = FormatRecordingHeader({.hostname = "a\n# arch : b"});
  EXPECT_NE(text.find("# hostname : a?# arch : b\n"), std::string::npos) << text;
}

TEST(HeaderTest, TabsOfColumnsStay) {
  EXPECT_EQ(FormatRecordingHeader({.features = {{35, {"cpu\t\t: 3"}}}}),
            "# ========\n# header version : 1\n# cpu\t\t: 3\n# ========\n#\n");
}

TEST(HeaderTest, StatsCountRecordsAndEachEventsSamples) {
  EXPECT_EQ(FormatStats({{"COMM", 4}, {"LOST", 0}, {"SAMPLE", 996}},
                        {{"cpu-clock", 990}, {"page-faults", 6}, {"dummy", 0}}),
            "\n"
            "Aggregated stats:\n"
            "               TOTAL events:       1000\n"
            "                COMM events:          4  ( 0.4%)\n"
            "              SAMPLE events:        996  (99.6%)\n"
            "cpu-clock stats:\n"
            "              SAMPLE events:        990\n"
            "page-faults stats:\n"
            "              SAMPLE events:          6\n");
}

TEST(HeaderTest, StatsOfNothingAreZero) {
  EXPECT_EQ(FormatStats({}, {}), "\nAggregated stats:\n               TOTAL events:          0\n");
}

}  // namespace
}  // namespace profiler::report
