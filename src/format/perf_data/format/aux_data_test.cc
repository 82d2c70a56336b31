#include "src/format/perf_data/format/aux_data.h"

#include <gtest/gtest.h>

namespace profiler::perf_data {
namespace {

TEST(AuxDataTest, SaysWhichTracesAreNotDecodedAndWhatDecodesThem) {
  EXPECT_EQ(UndecodedAuxData({.type = 1, .bytes = 12240}, false),
            "12,240 bytes of Intel PT trace data are not decoded; views show the other samples "
            "only. Run perf report --itrace=i100us -i FILE");
  EXPECT_EQ(UndecodedAuxData({.type = 4, .bytes = 16}, false),
            "16 bytes of Arm SPE trace data are not decoded; views show the other samples only. "
            "Run perf mem report -i FILE, or perf script -i FILE");
  EXPECT_EQ(UndecodedAuxData({.type = 99, .bytes = 1234567}, false),
            "1,234,567 bytes of AUX trace data are not decoded; views show the other samples only. "
            "Run perf report -D -i FILE");
  EXPECT_EQ(UndecodedAuxData({.type = 3}, true),
            "the samples have CoreSight trace data, which are not decoded; views show the other "
            "samples only. Run perf report --itrace=i100us -i FILE (a perf built with OpenCSD)");
}

TEST(AuxDataTest, IsSilentWithoutTraces) {
  EXPECT_EQ(UndecodedAuxData({}, false), std::nullopt);
  EXPECT_EQ(UndecodedAuxData({.type = 1}, false), std::nullopt);
}

}  // namespace
}  // namespace profiler::perf_data
